mxprof recover bad_record.mxp -o out.mxp; mxprof report --layout mxnet out.mxp | head -4
