mxprof report --layout mxnet --by scope sample.mxp
