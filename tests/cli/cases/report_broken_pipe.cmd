mxprof report --layout mxnet sample.mxp | head -1
