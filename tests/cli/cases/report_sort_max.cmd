mxprof report --layout mxnet sample.mxp --sort max
