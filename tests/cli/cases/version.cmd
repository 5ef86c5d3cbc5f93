mxprof --version
