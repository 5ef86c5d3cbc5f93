mxprof convert sample.mxp -o out.folded && cat out.folded
