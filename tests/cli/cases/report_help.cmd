mxprof report --help
