mxprof convert sample.mxp -o out.json && cat out.json
