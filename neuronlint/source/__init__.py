"""The source lane: rules over the syntax tree of a file, without torch and without running anything."""
