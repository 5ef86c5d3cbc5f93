mxprof report --layout mxnet bad_section.mxp
