-- lunarray.words.loss: losses as functions; layers of the same names are in nn.
-- The format is in lunarray.help.rows.
return [==[
== mse_loss
For regression whose errors have one size. Sizes must agree: a {3} against a {3,
1} is an error, not a matrix of differences.
> la.mse_loss(la.tensor{1., 2}, la.tensor{1., 4})
tensor(2.)
> la.mse_loss(la.tensor{1., 2}, la.tensor{1., 4}, "none")
tensor([0., 4.])
see: l1_loss, huber_loss, nn.MSELoss
== l1_loss
For targets with outliers, which squares would follow.
> la.l1_loss(la.tensor{1., 2}, la.tensor{1., 4})
tensor(1.)
see: mse_loss, smooth_l1_loss
== smooth_l1_loss
> la.smooth_l1_loss(la.tensor{0., 0}, la.tensor{0.5, 3})
tensor(1.3125)
see: huber_loss, l1_loss
== huber_loss
For regression with outliers.
> la.huber_loss(la.tensor{0., 0}, la.tensor{0.5, 3}, "none")
tensor([0.1250, 2.5000])
source: Huber, Robust estimation of a location parameter, 1964.
see: smooth_l1_loss, mse_loss
== binary_cross_entropy
> la.binary_cross_entropy(la.tensor{0.9, 0.2}, la.tensor{1., 0})
tensor(0.1643)
see: binary_cross_entropy_with_logits
== binary_cross_entropy_with_logits
The loss for yes and no: scores of a network and targets of 0 and 1.
> la.binary_cross_entropy_with_logits(la.tensor{2., -1}, la.tensor{1., 0})
tensor(0.2201)
see: cross_entropy, sigmoid, nn.BCEWithLogitsLoss
== kl_div
> p, q = la.tensor{0.5, 0.5}, la.tensor{0.9, 0.1}
> la.kl_div(q:log(), p, "sum")
tensor(0.5108)
see: cross_entropy, entr
== soft_margin_loss
For two classes named 1 and -1; binary_cross_entropy_with_logits takes 0 and 1.
> la.soft_margin_loss(la.tensor{2., -1}, la.tensor{1., -1})
tensor(0.2201)
see: binary_cross_entropy_with_logits
== hinge_embedding_loss
For pairs that belong together (1) or not (-1), by their distance.
> la.hinge_embedding_loss(la.tensor{0.5, 0.5}, la.tensor{1., -1})
tensor(0.5000)
see: cosine_embedding_loss
== margin_ranking_loss
To learn an order: which of two is better.
> la.margin_ranking_loss(la.tensor{1.}, la.tensor{2.}, la.tensor{1.})
tensor(1.)
see: triplet_margin_loss
== cosine_embedding_loss
> a, b = la.tensor{{1., 0}}, la.tensor{{1., 1}}
> la.cosine_embedding_loss(a, b, la.tensor{1.})
tensor(0.2929)
see: cosine_similarity
== triplet_margin_loss
> a, p, n = la.tensor{{0., 0}}, la.tensor{{1., 0}}, la.tensor{{1.5, 0}}
> la.triplet_margin_loss(a, p, n)
tensor(0.5000)
source: Schroff, Kalenichenko and Philbin, FaceNet, 2015.
see: cosine_embedding_loss, pairwise_distance
== cosine_similarity
For texts and images as vectors, whose length says nothing.
> la.cosine_similarity(la.tensor{{1., 0}}, la.tensor{{1., 1}})
tensor([0.7071])
see: normalize, pairwise_distance
== pairwise_distance
For how far the two of each pair are apart; cdist compares all with all.
> la.pairwise_distance(la.tensor{{0., 0}}, la.tensor{{3., 4}}):round()
tensor([5.])
see: cdist, dist
== nll_loss
> scores = la.tensor{{1., 2, 3}}:log_softmax(2)
> la.nll_loss(scores, la.tensor{3})
tensor(0.4076)
see: cross_entropy, log_softmax
== cross_entropy
Give it the scores of a network, with no softmax before.
> la.cross_entropy(la.tensor{{1., 2, 3}, {3, 1, 1}}, la.tensor{3, 1})
tensor(0.3236)
> la.cross_entropy(la.tensor{{1., 2}}, la.tensor{{0.25, 0.75}})
tensor(0.5633)
! A label 0: labels count from 1.
see: nll_loss, softmax, nn.CrossEntropyLoss
== gaussian_nll_loss
> la.gaussian_nll_loss(la.tensor{1.}, la.tensor{2.}, la.tensor{0.5})
tensor(0.6534)
see: mse_loss
== poisson_nll_loss
> la.poisson_nll_loss(la.tensor{0.5}, la.tensor{2.})
tensor(0.6487)
see: poisson
== multi_margin_loss
> la.multi_margin_loss(la.tensor{{0.1, 0.2, 0.7}}, la.tensor{3})
tensor(0.3000)
see: cross_entropy
== multilabel_margin_loss
> la.multilabel_margin_loss(la.tensor{{0.1, 0.2, 0.4}},
>>   la.tensor{{3, 0, 0}})
tensor(0.5000)
see: multilabel_soft_margin_loss
== multilabel_soft_margin_loss
For samples that have several labels at once.
> la.multilabel_soft_margin_loss(la.tensor{{2., -1}}, la.tensor{{1., 0}})
tensor(0.2201)
see: binary_cross_entropy_with_logits
== ctc_loss
> frames = la.zeros(4, 1, 3):log_softmax(3)
> la.ctc_loss(frames, la.tensor{{2, 3}}, la.tensor{4}, la.tensor{2},
>>   {reduction = "sum"})
tensor(1.6864)
source: Graves and others, Connectionist temporal classification, 2006.
see: nn.CTCLoss, cross_entropy
]==]
