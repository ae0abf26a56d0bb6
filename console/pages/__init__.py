"""One read model per page: a function from (tenant, address) to the page's parts."""
