-- lunarray.words: the families of words in the order of the reference: the
-- module lunarray.words.<name> that has their text (its format is in
-- lunarray.help.rows), and a title.
return {
  {"tensor", "Properties and methods of a tensor"},
  {"create", "Making tensors"},
  {"dtypes", "Dtypes"},
  {"random", "Random numbers"},
  {"autograd", "Gradients"},
  {"signal", "Signals"},
  {"image", "Images"},
  {"nn", "Modules of networks"},
  {"training", "Training, data, plots, tests"},
  {"files", "Files"},
  {"library", "The library"},
}
