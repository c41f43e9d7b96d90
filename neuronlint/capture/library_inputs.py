"""Example inputs of models from timm, torchvision, transformers and diffusers, read off their configurations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

Found = dict[str, Any] | tuple[Any, ...] | None
TOKENS = 128
"""Sequence length of made-up text: the padded length that the Neuron BERT samples use."""


def library_inputs(model: torch.nn.Module) -> Found:
    """The inputs for a model whose class, or a base of it, comes from a library that describes its inputs."""
    for cls in type(model).__mro__:
        root = cls.__module__.split(".")[0]
        if root in _LIBRARIES and (found := _LIBRARIES[root](model)) is not None:
            return found
    return None


def _timm(model: Any) -> Found:
    config = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None)
    size = config.get("input_size") if isinstance(config, dict) else None
    image_size = getattr(getattr(model, "patch_embed", None), "img_size", None)
    if size and image_size:  # built for another size than the published weights
        size = (size[0], *image_size)
    return (torch.zeros(1, *size),) if size else None


def _torchvision(model: Any) -> Found:
    module = type(model).__module__
    if ".detection" in module:
        return ([torch.zeros(3, 320, 320)],)
    if ".video" in module:
        return (
            torch.zeros(1, 3, 16, 224, 224)
            if "mvit" in module or "swin" in module
            else torch.zeros(1, 3, 16, 112, 112),
        )
    if ".optical_flow" in module:
        return torch.zeros(1, 3, 128, 128), torch.zeros(1, 3, 128, 128)
    if not module.startswith("torchvision.models"):
        return None
    size = 299 if "inception" in module else 520 if ".segmentation" in module else getattr(model, "image_size", 224)
    return (torch.zeros(1, 3, size, size),)


def _transformers(model: Any) -> Found:
    config = getattr(model, "config", None)
    if config is None or not hasattr(model, "main_input_name"):
        return None
    names = set(inspect.signature(model.forward).parameters)
    found: dict[str, Any] = {}
    text = _text_config(config)
    if "pixel_values" in names and (model.main_input_name == "pixel_values" or _vision(config) is not None):
        found["pixel_values"] = _pixels(config)
    if model.main_input_name in ("input_values", "input_features"):
        found[model.main_input_name] = _audio(config, model.main_input_name)
    if model.main_input_name == "inputs":
        found["inputs"] = _perceiver(model, config)
    wants_text = model.main_input_name == "input_ids" or (
        "input_ids" in names and "pixel_values" in found and _vision(config) is not None
    )
    if wants_text and "input_ids" in names:
        length = _length(text)
        found["input_ids"] = torch.ones(1, length, dtype=torch.int64)
        if "attention_mask" in names:
            found["attention_mask"] = torch.ones(1, length, dtype=torch.int64)
        if "bbox" in names:
            found["bbox"] = torch.zeros(1, length, 4, dtype=torch.int64)
    if "decoder_input_ids" in names and getattr(config, "is_encoder_decoder", False):
        found["decoder_input_ids"] = torch.ones(1, min(_length(text), 64), dtype=torch.int64)
    if "use_cache" in names:
        found["use_cache"] = False
    return found or None


def _text_config(config: Any) -> Any:
    return getattr(config, "text_config", None) or config


def _vision(config: Any) -> Any:
    return getattr(config, "vision_config", None)


def _length(config: Any) -> int:
    longest = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or TOKENS
    return min(TOKENS, int(longest)) if isinstance(longest, int) and longest > 0 else TOKENS


def _pixels(config: Any) -> torch.Tensor:
    vision = _vision(config) or config
    size = getattr(vision, "image_size", None) or 224
    height, width = (
        (size, size)
        if isinstance(size, int)
        else (size[0], size[1])
        if not isinstance(size, dict)
        else (size["height"], size["width"])
    )
    channels = getattr(vision, "num_channels", None) or 3
    if frames := getattr(vision, "num_frames", None):
        return torch.zeros(1, frames, channels, height, width)
    return torch.zeros(1, channels, height, width)


def _audio(config: Any, name: str) -> torch.Tensor:
    if name == "input_values":
        bins = getattr(config, "num_mel_bins", None)
        if bins and hasattr(config, "max_length"):
            return torch.zeros(1, config.max_length, bins)
        return torch.zeros(1, 16000)
    bins = getattr(config, "num_mel_bins", None) or getattr(config, "feature_projection_input_dim", None) or 80
    if sources := getattr(config, "max_source_positions", None):
        return torch.zeros(1, bins, 2 * sources)
    return torch.zeros(1, 128, bins)


def _perceiver(model: Any, config: Any) -> torch.Tensor:
    name = type(model).__name__
    if "MaskedLM" in name or "SequenceClassification" in name:
        return torch.ones(1, min(config.max_position_embeddings, 2048), dtype=torch.int64)
    if "ImageClassification" in name:
        return torch.zeros(1, config.num_channels if hasattr(config, "num_channels") else 3, 224, 224)
    return torch.zeros(1, TOKENS, config.d_model)


def _diffusers(model: Any) -> Found:
    config = getattr(model, "config", None)
    if config is None:
        return None
    names = inspect.signature(model.forward).parameters
    get: Callable[..., Any] = (
        config.get if hasattr(config, "get") else lambda key, default=None: getattr(config, key, default)
    )
    channels = get("in_channels") or 4
    size = get("sample_size") or 64
    height, width = (size, size) if isinstance(size, int) else (size[0], size[1])
    found: dict[str, Any] = {}
    if "sample" in names:
        found["sample"] = torch.zeros(1, channels, height, width)
    if "hidden_states" in names:
        found["hidden_states"] = _latents(get, channels, height, width, "img_ids" in names)
    if "timestep" in names:
        found["timestep"] = torch.ones(1, dtype=torch.int64 if "img_ids" not in names else torch.float32)
    _conditioning(found, names, get)
    if "return_dict" in names:
        found["return_dict"] = False
    return found or None


def _latents(get: Callable[..., Any], channels: int, height: int, width: int, packed: bool) -> torch.Tensor:
    if packed:
        return torch.zeros(1, 1024, channels)
    if get("patch_size_t") or get("sample_frames"):
        return torch.zeros(1, 5, channels, height, width)
    return torch.zeros(1, channels, height, width)


def _conditioning(found: dict[str, Any], names: Any, get: Callable[..., Any]) -> None:
    width = (
        get("cross_attention_dim") or get("caption_channels") or get("joint_attention_dim") or get("encoder_hid_dim")
    )
    if isinstance(width, (list, tuple)):
        width = width[0]
    if "encoder_hidden_states" in names and width:
        found["encoder_hidden_states"] = torch.zeros(1, 77, get("caption_channels") or width)
    if "pooled_projections" in names and get("pooled_projection_dim"):
        found["pooled_projections"] = torch.zeros(1, get("pooled_projection_dim"))
    if "class_labels" in names and get("num_embeds_ada_norm") and not width:
        found["class_labels"] = torch.zeros(1, dtype=torch.int64)
    if "img_ids" in names:
        found["img_ids"], found["txt_ids"] = torch.zeros(1024, 3), torch.zeros(77, 3)
        found["guidance"] = torch.ones(1) if get("guidance_embeds") else None
    if "added_cond_kwargs" in names:
        found["added_cond_kwargs"] = _added(get)
    if "controlnet_cond" in names:
        found["controlnet_cond"] = torch.zeros(1, 3, 512, 512)


def _added(get: Callable[..., Any]) -> dict[str, Any] | None:
    if get("addition_embed_type") == "text_time":
        width = (get("projection_class_embeddings_input_dim") or 2816) - 6 * (get("addition_time_embed_dim") or 256)
        return {"text_embeds": torch.zeros(1, width), "time_ids": torch.zeros(1, 6)}
    if get("caption_channels"):
        return {"resolution": torch.ones(1, 2), "aspect_ratio": torch.ones(1, 1)}
    return None


_LIBRARIES: dict[str, Callable[[Any], Found]] = {
    "timm": _timm,
    "torchvision": _torchvision,
    "transformers": _transformers,
    "diffusers": _diffusers,
}
