mxprof report --layout mxnet --by step sample.mxp
