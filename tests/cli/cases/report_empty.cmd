mxprof report --layout mxnet empty.mxp
