mxprof report --layout mxnet several
