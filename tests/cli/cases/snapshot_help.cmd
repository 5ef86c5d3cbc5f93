mxprof snapshot --help
