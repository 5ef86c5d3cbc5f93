mxprof view --help
