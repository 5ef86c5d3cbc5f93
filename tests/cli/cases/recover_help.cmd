mxprof recover --help
