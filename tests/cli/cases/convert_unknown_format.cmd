mxprof convert sample.mxp -o out.json --to pdf
