mxprof whatif --help
