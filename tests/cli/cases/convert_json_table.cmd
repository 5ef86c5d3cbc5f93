mxprof convert sample.mxp --to json -o - | head -5
