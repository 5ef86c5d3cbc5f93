mxprof show --help
