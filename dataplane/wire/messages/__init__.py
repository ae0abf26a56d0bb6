"""One module per API, loaded at first use; `dataplane.wire.apis.load` finds them."""
