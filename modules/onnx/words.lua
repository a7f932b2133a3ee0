-- lunarray.words.onnx. The format is in lunarray.help.rows.
return [==[
= Networks in ONNX files
]==]
