-- lunarray.words.linalg: products of matrices, equations, decompositions. The
-- format is in lunarray.help.rows.
return [==[
== linalg
: la.linalg
Linear algebra under PyTorch's names. Matrices are the last two dims, those
before are batches.
> A = la.tensor{{4., 1}, {1, 3}}
> la.linalg.solve(A, la.tensor{1., 2})
tensor([0.0909, 0.6364])
see: matmul, solve, lstsq
== matmul
> A = la.tensor{{1., 2}, {3, 4}}
> A:matmul(A)
tensor([[ 7., 10.],
        [15., 22.]])
> A:matmul(la.tensor{1., 1})
tensor([3., 7.])
> la.ones(5, 1, 2, 3):matmul(la.ones(4, 3, 2)).shape
{5, 4, 2, 2}
! Inner sizes that differ.
see: mm, bmm, mv, dot, einsum, linear
== mm
> la.tensor{{1, 2}, {3, 4}}:mm(la.eye(2):long())
tensor([[1, 2],
        [3, 4]])
see: matmul, addmm
== bmm
For a product for each sample of a batch; matmul broadcasts.
> la.ones(3, 2, 4):bmm(la.ones(3, 4, 5)).shape
{3, 2, 5}
see: matmul, baddbmm
== mv
A matrix of n x m times a vector of m gives a vector of n; a batch of vectors
goes through mm.
> la.tensor{{1., 2}, {3, 4}}:mv(la.tensor{1., 1})
tensor([3., 7.])
see: matmul, addmv
== dot
> la.tensor{1., 2, 3}:dot(la.tensor{4., 5, 6})
tensor(32.)
see: vdot, vecdot, inner
== vdot
The inner product of complex vectors: vdot(x, x) is the squared length, real
and not negative.
> la.complex(la.tensor{0.}, la.tensor{1.}):vdot(
>>   la.complex(la.tensor{0.}, la.tensor{1.}))
tensor(1.+0.j)
see: dot, vecdot
== addmm
> la.ones(2, 2):addmm(la.eye(2), la.full({2, 2}, 3.), {alpha = 2})
tensor([[7., 7.],
        [7., 7.]])
see: mm, linear
== addmv
> la.tensor{1., 1}:addmv(la.eye(2), la.tensor{5., 6})
tensor([6., 7.])
see: mv
== baddbmm
> la.zeros(3, 1, 1):baddbmm(la.ones(3, 1, 2), la.ones(3, 2, 1)).shape
{3, 1, 1}
see: bmm
== addbmm
> la.zeros(1, 1):addbmm(la.ones(3, 1, 2), la.ones(3, 2, 1))
tensor([[6.]])
see: bmm
== linear
The operation behind nn.Linear.
> la.linear(la.tensor{1., 2}, la.tensor{{1., 0}, {0, 1}, {1, 1}},
>>   la.tensor{0.5, 0.5, 0})
tensor([1.5000, 2.5000, 3.0000])
see: nn.Linear, matmul, addmm
== bilinear
> la.bilinear(la.tensor{1., 2}, la.tensor{3., 4}, la.ones(1, 2, 2))
tensor([21.])
see: nn.Bilinear, linear
== inner
For all pairs of rows: similarities.
> la.tensor{{1., 2}, {3, 4}}:inner(la.tensor{1., 1})
tensor([3., 7.])
see: dot, outer
== outer
For tables of all products; with + in mind, use broadcasting: a:unsqueeze(2) +
b.
> la.tensor{1, 2, 3}:outer(la.tensor{1, 10})
tensor([[ 1, 10],
        [ 2, 20],
        [ 3, 30]])
see: inner, addr, kron
== addr
The update of rank one, as Hebb's rule or a running covariance.
> la.zeros(2, 2):addr(la.tensor{1., 2}, la.tensor{3., 4})
tensor([[3., 4.],
        [6., 8.]])
see: outer
== kron
> la.tensor{1, 2}:kron(la.tensor{1, 10})
tensor([ 1, 10,  2, 20])
see: outer, tile
== vecdot
> la.tensor{{1., 2}, {3, 4}}:vecdot(la.tensor{1., 1})
tensor([3., 7.])
see: dot, linalg.cross
== tensordot
> la.ones(2, 3, 4):tensordot(la.ones(3, 4, 5)).shape
{2, 5}
see: einsum, matmul
== einsum
Letters that are missing in the result are summed over.
> A = la.tensor{{1., 2}, {3, 4}}
> la.einsum("ij,jk->ik", {A, A})
tensor([[ 7., 10.],
        [15., 22.]])
> la.einsum("ii->i", {A})
tensor([1., 4.])
> la.einsum("bi,bj->bij", {A, A}).shape
{2, 2, 2}
see: matmul, tensordot
== matrix_power
For steps of a linear system or walks through a graph.
> la.tensor{{1, 1}, {1, 0}}:matrix_power(10)
tensor([[89, 55],
        [55, 34]])
see: matmul, matrix_exp
== chain_matmul
> la.chain_matmul({la.ones(2, 3), la.ones(3, 4), la.ones(4, 1)}).shape
{2, 1}
see: multi_dot, matmul
== multi_dot
It chooses the order of the products that costs least.
> la.multi_dot({la.ones(3), la.ones(3, 2), la.ones(2)})
tensor(6.)
see: chain_matmul
== cross
> la.tensor{1., 0, 0}:cross(la.tensor{0., 1, 0})
tensor([0., 0., 1.])
see: linalg.cross, game.cross, dot
== det
For volumes and to see whether a matrix mirrors space; to see whether it can be
inverted, ask cond or matrix_rank.
> la.tensor{{1., 2}, {3, 4.5}}:det()
tensor(-1.5000)
see: slogdet, logdet, inv
== slogdet
Use it for large matrices, whose determinant is too large for a float.
> sign, log = la.tensor{{1., 2}, {3, 4}}:slogdet()
> sign, log
tensor(-1.)    tensor(0.6931)
see: det, logdet
== logdet
> la.tensor{{2., 0}, {0, 2}}:logdet()
tensor(1.3863)
see: slogdet
== inv
Mostly you want solve instead: it is quicker, and more digits are right.
> la.tensor{{2., 0}, {0, 4}}:inv()
tensor([[0.5000, 0.0000],
        [0.0000, 0.2500]])
! A singular matrix.
see: solve, pinv, det
== inv_ex
> inverse, info = la.inv_ex(la.zeros(2, 2))
> info
tensor(1, dtype=int32)
see: inv
== solve
> A, b = la.tensor{{3., 1}, {1, 2}}, la.tensor{9., 8}
> x = la.linalg.solve(A, b)
> x, A:mv(x)
tensor([2., 3.])    tensor([9., 8.])
! A singular matrix: lstsq gives the nearest solution.
see: lstsq, solve_triangular, cholesky_solve, inv
== solve_ex
> result, info = la.solve_ex(la.eye(2), la.tensor{1., 2})
> result, info
tensor([1., 2.])    tensor(0, dtype=int32)
see: solve
== lu_factor_ex
> LU, pivots, info = la.lu_factor_ex(la.eye(2))
> info
tensor(0, dtype=int32)
see: lu_factor
== lu_factor
Factor once, then solve for many right sides with lu_solve.
> LU, pivots = la.lu_factor(la.tensor{{0., 2}, {4, 0}})
> la.lu_solve(LU, pivots, la.tensor{{2.}, {4.}})
tensor([[1.],
        [1.]])
see: lu_solve, lu, solve
== lu
> P, L, U = la.lu(la.tensor{{1., 2}, {3, 4}})
> (P:matmul(L):matmul(U))
tensor([[1., 2.],
        [3., 4.]])
see: lu_factor, qr
== lu_solve
For many right-hand sides of one matrix, which is decomposed once.
> LU, pivots = la.lu_factor(la.tensor{{2., 0}, {0, 4}})
> la.lu_solve(LU, pivots, la.tensor{{2.}, {4.}})
tensor([[1.],
        [1.]])
see: lu_factor
== lu_unpack
> P, L, U = la.lu_unpack(la.lu_factor(la.tensor{{0., 2}, {4, 0}}))
> U
tensor([[4., 0.],
        [0., 2.]])
see: lu_factor
== solve_triangular
> la.solve_triangular(la.tensor{{2., 0}, {1, 1}}, la.tensor{{2.}, {3.}},
>>   {upper = false})
tensor([[1.],
        [2.]])
see: solve, cholesky_solve
== cholesky
For covariances: half the work of lu. It also tests whether a matrix is positive
definite.
> la.tensor{{4., 2}, {2, 5}}:cholesky()
tensor([[2., 0.],
        [1., 2.]])
! A matrix that is not positive definite.
see: cholesky_solve, cholesky_ex, multivariate_normal
== cholesky_ex
> L, info = la.cholesky_ex(la.tensor{{1., 2}, {2, 1}})
> info
tensor(2, dtype=int32)
see: cholesky
== cholesky_solve
For many right-hand sides of one covariance, which is decomposed once.
> L = la.tensor{{4., 2}, {2, 5}}:cholesky()
> la.tensor{{6.}, {7.}}:cholesky_solve(L)
tensor([[1.],
        [1.]])
see: cholesky, solve
== cholesky_inverse
For the precision matrix of a covariance.
> la.tensor{{2., 0}, {0, 1}}:cholesky_inverse()
tensor([[0.2500, 0.0000],
        [0.0000, 1.0000]])
see: cholesky, inv
== pivoted_cholesky
> L, pivots, rank = la.tensor{{1., 2}, {2, 4}}:pivoted_cholesky()
> rank
tensor(1)
see: cholesky
== ldl_factor
> LD, pivots = la.ldl_factor(la.tensor{{4., 2}, {2, 3}})
> LD
tensor([[4.0000, 0.0000],
        [0.5000, 2.0000]])
see: ldl_solve, cholesky
== ldl_solve
> LD, pivots = la.ldl_factor(la.tensor{{4., 2}, {2, 3}})
> la.ldl_solve(LD, pivots, la.tensor{{8.}, {7.}})
tensor([[1.2500],
        [1.5000]])
see: ldl_factor
== qr
> Q, R = la.tensor{{3., 1}, {4, 2}}:qr()
> Q:matmul(R):round()
tensor([[3., 1.],
        [4., 2.]])
> Q:t():matmul(Q):allclose(la.eye(2), 0, 1e-6)
true
source: Golub and Van Loan, Matrix computations, 5.2.
see: lstsq, linalg.svd, householder_product
== geqrf
> a, tau = la.tensor{{1.5}, {2}}:geqrf()
> a:abs()[1]
tensor([2.5000])
see: qr, householder_product
== householder_product
> Q = la.householder_product(la.tensor{{3.}, {4}}:geqrf())
> Q:abs()
tensor([[0.6000],
        [0.8000]])
see: geqrf, ormqr
== ormqr
> a, tau = la.tensor{{3.}, {4}}:geqrf()
> a:ormqr(tau, la.eye(2)).shape
{2, 2}
see: geqrf
== eigh
> values, vectors = la.tensor{{2.5, 1}, {1, 2.5}}:eigh()
> values
tensor([1.5000, 3.5000])
> vectors:abs()
tensor([[0.7071, 0.7071],
        [0.7071, 0.7071]])
see: eigvalsh, eig, linalg.svd
== eigvalsh
For the spectrum alone, in less time than eigh takes.
> la.tensor{{2.5, 1}, {1, 2.5}}:eigvalsh()
tensor([1.5000, 3.5000])
see: eigh
== linalg.svd
> U, S, Vh = la.linalg.svd(la.tensor{{3., 0}, {4, 5}}, false)
> S
tensor([6.7082, 2.2361])
> U:matmul(S:diag()):matmul(Vh):round()
tensor([[3., 0.],
        [4., 5.]])
see: svdvals, pinv, svd_lowrank
== svdvals
For the condition and the rank of matrices.
> la.tensor{{3., 0}, {4, 5}}:svdvals()
tensor([6.7082, 2.2361])
see: linalg.svd, cond, matrix_rank
== eig
> values = la.tensor{{0., -0.5}, {0.5, 0}}:eig()
> values.imag:abs()
tensor([0.5000, 0.5000])
see: eigh, eigvals
== eigvals
For the stability of a system: all below 1 in size, or left of 0.
> la.tensor{{0., -0.5}, {0.5, 0}}:eigvals().imag:abs()
tensor([0.5000, 0.5000])
see: eig
== pinv
> la.tensor{{1., 0}, {0, 2}, {0, 0}}:pinv()
tensor([[1.0000, 0.0000, 0.0000],
        [0.0000, 0.5000, 0.0000]])
see: lstsq, inv
== pinverse
The pseudo-inverse under PyTorch's older name: rcond is pinv's rtol. For least
squares of many right sides.
> la.tensor{{1., 0}, {0, 2}, {0, 0}}:pinverse().shape
{2, 3}
see: pinv
== matrix_rank
For how many rows say something new.
> la.tensor{{1., 2}, {2, 4}}:matrix_rank()
tensor(1)
see: svdvals
== svd_lowrank
> A = la.randn(20, 2):matmul(la.randn(2, 10))
> U, S, V = la.svd_lowrank(A, 2)
> U:matmul(S:diag()):matmul(V:t()):allclose(A, 0, 1e-3)
true
source: Halko, Martinsson and Tropp, Finding structure with randomness, 2009.
see: linalg.svd, pca_lowrank
== pca_lowrank
> x = la.randn(50, 1):matmul(la.tensor{{3., 4}})
> U, S, V = la.pca_lowrank(x, 1)
> V:abs()
tensor([[0.6000],
        [0.8000]])
see: svd_lowrank, cov
== lstsq
Fits lines and curves to points. The matrix has a column for each number to
find.
> t = la.tensor{0., 1, 2, 3}
> A = la.stack({t, la.ones(4)}, 2)
> (la.linalg.lstsq(A, la.tensor{{1.5}, {4}, {6.5}, {9}}))
tensor([[2.5000],
        [1.5000]])
see: solve, polyfit, pinv
== matrix_exp
The solution of x' = A x after time 1 is matrix_exp(A) x: dynamics, rotations
from their rates.
> la.tensor{{0., -1}, {1, 0}}:mul(math.pi / 3):matrix_exp()
tensor([[ 0.5000, -0.8660],
        [ 0.8660,  0.5000]])
source: Al-Mohy and Higham, A new scaling and squaring algorithm, 2009.
see: exp, matrix_power
== tensorinv
> la.tensorinv(la.eye(4):view(2, 2, 4), 2).shape
{4, 2, 2}
see: tensordot, inv
== tensorsolve
> la.tensorsolve(la.eye(4):view(2, 2, 4), la.ones(2, 2))
tensor([1., 1., 1., 1.])
see: tensordot, solve
== matrix_transpose
For batches of matrices, where t() takes one: the last two dims change, no
memory moves.
> la.matrix_transpose(la.ones(5, 2, 3)).shape
{5, 3, 2}
see: mT
== matrix_norm
> la.matrix_norm(la.tensor{{3., 0}, {0, 4}})
tensor(5.)
> la.matrix_norm(la.tensor{{3., 1}, {0, 4}}, 1)
tensor(5.)
see: linalg.norm, vector_norm
== linalg.norm
> la.linalg.norm(la.tensor{{3., 0}, {0, 4}})
tensor(5.)
> la.linalg.norm(la.tensor{3., -4}, 1)
tensor(7.)
see: vector_norm, matrix_norm
== cond
A solution may lose about log10 of it in digits. With functions it is another
thing: la.cond(pred, f, g, ...) returns f(...) where pred, a boolean or a tensor
of one element, holds, else g(...). Within vmap, where pred may differ, both run
and their results, of equal sizes and dtypes, are chosen from.
> la.cond(la.tensor{{2., 0}, {0, 0.8}})
tensor(2.5000)
> la.cond(la.tensor(2.):gt(1), la.exp, la.neg, la.zeros(1))
tensor([1.])
see: svdvals, solve, where, while_loop, scan
== cdist
> la.tensor{{0., 0}, {3, 4}}:cdist(la.tensor{{0., 0}})
tensor([[0.],
        [5.]])
> la.cdist(la.tensor{{0., 0}, {3, 4}}, la.tensor{{0., 0}}, 1)
tensor([[0.],
        [7.]])
see: pdist, game.nearest
== pdist
For clustering: each pair once; cdist gives the whole table.
> la.tensor{{0., 0}, {3, 4}, {0, 1}}:pdist()
tensor([5.0000, 1.0000, 4.2426])
see: cdist
== linalg.vander
> la.linalg.vander(la.tensor{2., 3}, 3)
tensor([[1., 2., 4.],
        [1., 3., 9.]])
see: vander
== linalg.diagonal
> la.linalg.diagonal(la.range(8):view(2, 2, 2))
tensor([[1, 4],
        [5, 8]])
see: diagonal
== linalg.cross
> la.linalg.cross(la.tensor{1., 0, 0}, la.tensor{0., 1, 0})
tensor([0., 0., 1.])
see: cross, game.cross
]==]
