"""Records and bytes a second of the last hours, from differences of offsets and sizes."""
