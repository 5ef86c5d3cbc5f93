mxprof at --help
