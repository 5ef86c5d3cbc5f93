mxprof roof --help
