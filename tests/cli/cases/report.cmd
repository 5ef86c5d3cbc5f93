mxprof report --layout mxnet sample.mxp
