"""The treebank that ships inside the package."""
