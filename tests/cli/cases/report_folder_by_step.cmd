mxprof report --layout mxnet --by step --percentiles several
