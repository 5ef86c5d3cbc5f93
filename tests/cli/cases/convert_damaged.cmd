mxprof convert bad_record.mxp -o out.json; echo exit $?; python3 -m json.tool out.json > /dev/null && echo valid
