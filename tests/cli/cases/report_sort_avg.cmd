mxprof report --layout mxnet --sort avg sample.mxp
