-- lunarray.words.game: what games script, on batches. The format is in
-- lunarray.help.rows.
return [==[
= Games
== game
: la.game
Vectors, quaternions, transforms, rays, noise, neighbours, paths and flocks, on
batches: components stand in the last dim. Right-handed, y up, angles in
radians. Results have the same bits on every machine. The page "Games" of the
manual has pictures.
> la.game.length(la.tensor{{3., 4}, {6, 8}})
tensor([ 5., 10.])
see: game.quat_mul, game.compose, game.perlin, game.boids
== game.dot
Sums of products along the last dim: above 0 for vectors that point the same
way, below for opposite ones. Is the target in front?
> la.game.dot(la.tensor{{1., 2}, {3, 4}}, la.tensor{1., 1})
tensor([3., 7.])
see: game.length, vecdot
== game.length
Euclidean lengths along the last dim: how far a unit goes in a step, how far a
target is away.
> la.game.length(la.tensor{3., 4})
tensor(5.)
see: game.distance, game.normalize
== game.distance
For ranges and triggers; compare squares to save the root.
> la.game.distance(la.tensor{1., 1}, la.tensor{4., 5})
tensor(5.)
see: game.length, cdist
== game.angle
> la.game.angle(la.tensor{1., 0}, la.tensor{0., 2})
tensor(1.5708)
see: game.quat_between
== game.normalize
For directions: a unit vector, safe for zero.
> la.game.normalize(la.tensor{{3., 4}, {0, 0}})
tensor([[0.6000, 0.8000],
        [0.0000, 0.0000]])
see: game.length, normalize
== game.clamp_length
Use it for speed limits.
> la.game.clamp_length(la.tensor{{3., 4}, {0.3, 0.4}}, 1)
tensor([[0.6000, 0.8000],
        [0.3000, 0.4000]])
see: game.normalize, clamp
== game.project
For the part of a speed that goes along a slope.
> la.game.project(la.tensor{3., 4}, la.tensor{1., 0})
tensor([3., 0.])
see: game.dot, game.reflect
== game.cross
For normals of triangles and the axis of a rotation.
> la.game.cross(la.tensor{1., 0, 0}, la.tensor{0., 1, 0})
tensor([0., 0., 1.])
see: linalg.cross
== game.reflect
For bounces and mirrors.
> la.game.reflect(la.tensor{1., -1}, la.tensor{0., 1})
tensor([1., 1.])
see: game.refract, game.project
== game.refract
> la.game.refract(la.tensor{0., -1}, la.tensor{0., 1}, 1 / 1.33)
tensor([ 0., -1.])
see: game.reflect
== game.quat_mul
To rotate what is rotated already.
> q = la.game.quat_axis_angle(la.tensor{0., 1, 0}, math.pi / 4)
> la.game.quat_mul(q, q)
tensor([0.0000, 0.7071, 0.0000, 0.7071])
see: game.quat_rotate, game.quat_inverse
== game.quat_conj
> la.game.quat_conj(la.tensor{1., 2, 3, 4})
tensor([-1., -2., -3.,  4.])
see: game.quat_inverse
== game.quat_inverse
To undo a rotation.
> la.game.quat_inverse(la.tensor{0., 0, 0, 2})
tensor([0.0000, 0.0000, 0.0000, 0.5000])
see: game.quat_conj
== game.quat_rotate
To carry points from a body's own axes to the world's.
> q = la.game.quat_axis_angle(la.tensor{0., 0, 1}, math.pi / 3)
> la.game.quat_rotate(q, la.tensor{1., 0, 0})
tensor([0.5000, 0.8660, 0.0000])
see: game.quat_mul, game.quat_to_mat3
== game.slerp
> a = la.tensor{0., 0, 0, 1}
> b = la.game.quat_axis_angle(la.tensor{0., 1, 0}, 1)
> axis, angle = la.game.quat_to_axis_angle(la.game.slerp(a, b, 0.25))
> angle
tensor(0.2500)
source: Shoemake, Animating rotation with quaternion curves, 1985.
see: game.nlerp, lerp
== game.nlerp
> a, b = la.tensor{0., 0, 0, 1}, la.tensor{0., 0.6, 0, 0.8}
> la.game.nlerp(a, b, 0.5)
tensor([0.0000, 0.3162, 0.0000, 0.9487])
see: game.slerp
== game.quat_axis_angle
> la.game.quat_axis_angle(la.tensor{0., 1, 0}, math.pi / 3)
tensor([0.0000, 0.5000, 0.0000, 0.8660])
see: game.quat_to_axis_angle, game.quat_euler
== game.quat_to_axis_angle
> axis, angle = la.game.quat_to_axis_angle(la.tensor{0., 0.6, 0, 0.8})
> axis, angle
tensor([0., 1., 0.])    tensor(1.2870)
see: game.quat_axis_angle
== game.quat_euler
> la.game.quat_euler(la.tensor{0., 0.5, 0})
tensor([0.0000, 0.2474, 0.0000, 0.9689])
see: game.quat_axis_angle
== game.quat_between
> la.game.quat_between(la.tensor{1., 0, 0}, la.tensor{1., 1, 0})
tensor([0.0000, 0.0000, 0.3827, 0.9239])
see: game.angle, game.quat_look
== game.quat_look
> la.game.quat_look(la.tensor{0., 0, -1}, la.tensor{0., 1, 0})
tensor([0., 0., 0., 1.])
see: game.look_at
== game.quat_from_mat3
For rotations that come as matrices, to blend them by slerp.
> la.game.quat_from_mat3(la.eye(3))
tensor([0., 0., 0., 1.])
see: game.quat_to_mat3
== game.quat_to_mat3
For shaders and products with other matrices.
> la.game.quat_to_mat3(la.tensor{0., 0.6, 0, 0.8})
tensor([[ 0.2800,  0.0000,  0.9600],
        [ 0.0000,  1.0000,  0.0000],
        [-0.9600,  0.0000,  0.2800]])
see: game.quat_from_mat3, game.rotation
== game.quat_integrate
> la.game.quat_integrate(la.tensor{0., 0, 0, 1}, la.tensor{0., 1, 0}, 0.5)
tensor([0.0000, 0.2474, 0.0000, 0.9689])
see: game.quat_mul
== game.dual_quat
> la.game.dual_quat(la.tensor{0., 0, 0, 1}, la.tensor{2., 0, 0})
tensor([0., 0., 0., 1., 1., 0., 0., 0.])
see: game.dual_quat_transform, game.skin
== game.dual_quat_mul
> d = la.game.dual_quat(la.tensor{0., 0, 0, 1}, la.tensor{2., 0, 0})
> la.game.dual_quat_transform(la.game.dual_quat_mul(d, d), la.zeros(3))
tensor([4., 0., 0.])
see: game.dual_quat
== game.dual_quat_transform
> d = la.game.dual_quat(la.tensor{0., 0, 0, 1}, la.tensor{2., 0, 0})
> la.game.dual_quat_transform(d, la.tensor{1., 1, 1})
tensor([3., 1., 1.])
source: Kavan and others, Skinning with dual quaternions, 2007.
see: game.dual_quat, game.transform_points
== game.translation
For chains of transforms, which are products of matrices.
> la.game.translation(la.tensor{1., 2, 3})
tensor([[1., 0., 0., 1.],
        [0., 1., 0., 2.],
        [0., 0., 1., 3.],
        [0., 0., 0., 1.]])
see: game.compose
== game.scaling
> la.game.scaling(la.tensor{1., 2, 3}):diagonal()
tensor([1., 2., 3., 1.])
see: game.compose
== game.rotation
> la.game.rotation(la.tensor{0., 0, 0, 1})
tensor([[1., 0., 0., 0.],
        [0., 1., 0., 0.],
        [0., 0., 1., 0.],
        [0., 0., 0., 1.]])
see: game.compose, game.quat_to_mat3
== game.compose
Use it to give a renderer one matrix for each body.
> p, q = la.zeros(5, 3), la.tensor{0., 0, 0, 1}:expand(5, 4)
> la.game.compose(p, q, la.ones(3)).shape
{5, 4, 4}
see: game.decompose, game.transform_points
== game.decompose
> t, q, s = la.game.decompose(la.game.translation(la.tensor{1., 2, 3}))
> t, s
tensor([1., 2., 3.])    tensor([1., 1., 1.])
see: game.compose
== game.inverse_affine
> la.game.inverse_affine(la.game.translation(
>>   la.tensor{1., 2, 3}))[{{1, 3}, 4}]
tensor([-1., -2., -3.])
see: inv
== game.look_at
> view = la.game.look_at(la.tensor{0., 0, 5}, la.zeros(3),
>>   la.tensor{0., 1, 0})
> la.game.transform_points(view, la.zeros(3))
tensor([ 0.,  0., -5.])
see: game.perspective, game.quat_look
== game.perspective
> clip = la.game.perspective(math.pi / 2, 1, 1, 100)
> la.game.transform_points(clip, la.tensor{1., 1, -2})
tensor([0.5000, 0.5000, 0.5051])
see: game.orthographic, game.look_at
== game.orthographic
> clip = la.game.orthographic(-2, 2, -1, 1, 1, 3)
> la.game.transform_points(clip, la.tensor{1., 0.5, -2})
tensor([0.5000, 0.5000, 0.5000])
see: game.perspective
== game.transform_points
> m = la.game.translation(la.tensor{1., 0, 0})
> la.game.transform_points(m, la.tensor{{0., 0, 0}, {1, 1, 1}})
tensor([[1., 0., 0.],
        [2., 1., 1.]])
see: game.transform_vectors, game.compose
== game.transform_vectors
> m = la.game.translation(la.tensor{1., 0, 0})
> la.game.transform_vectors(m, la.tensor{0., 2, 0})
tensor([0., 2., 0.])
see: game.transform_points
== game.transform_normals
> m = la.game.scaling(la.tensor{2., 1, 1})
> la.game.transform_normals(m, la.tensor{1., 0, 0})
tensor([1., 0., 0.])
see: game.transform_vectors
== game.skin
> bones = la.stack({la.eye(4), la.game.translation(la.tensor{2., 0, 0})})
> la.game.skin(la.zeros(1, 3), bones, la.tensor{{1, 2}},
>>   la.tensor{{0.5, 0.5}})
tensor([[1., 0., 0.]])
see: game.dual_quat
== game.ray_box
> o, d = la.tensor{-5., 0, 0}, la.tensor{1., 0, 0}
> la.game.ray_box(o, d, la.tensor{-1., -1, -1}, la.tensor{1., 1, 1})
tensor(4.)
see: game.ray_sphere, game.ray_triangle
== game.ray_sphere
> la.game.ray_sphere(la.tensor{-5., 0, 0}, la.tensor{1., 0, 0},
>>   la.zeros(3), 2)
tensor(3.)
see: game.ray_box
== game.ray_triangle
> a, b, c = la.tensor{0., 0, 0}, la.tensor{1., 0, 0}, la.tensor{0., 1, 0}
> t, u, v = la.game.ray_triangle(la.tensor{0.25, 0.25, 1},
>>   la.tensor{0., 0, -1}, a, b, c)
> t, u, v
tensor(1.)    tensor(0.2500)    tensor(0.2500)
source: Moeller and Trumbore, Fast, minimum storage ray-triangle intersection,
  1997.
see: game.ray_box
== game.sd_sphere
> la.game.sd_sphere(la.tensor{{0., 0, 0}, {3, 0, 0}}, 2)
tensor([-2.,  1.])
see: game.sd_box, game.sd_capsule
== game.sd_box
> la.game.sd_box(la.tensor{3., 0, 0}, la.tensor{1., 1, 1})
tensor(2.)
see: game.sd_sphere
== game.sd_capsule
> la.game.sd_capsule(la.tensor{0., 2, 0}, la.tensor{-1., 0, 0},
>>   la.tensor{1., 0, 0}, 0.5)
tensor(1.5000)
see: game.sd_sphere
== game.perlin
For heights, clouds and shaking cameras: smooth, and always the same for the
same seed.
> la.game.perlin(la.tensor{{0.5, 0.5}, {0.25, 0.75}}, {seed = 1}).shape
{2}
> la.game.perlin(la.tensor{3., 4})
tensor(0.)
source: Perlin, Improving noise, 2002.
see: game.fbm, game.simplex, game.curl, game.worley
== game.simplex
> la.game.simplex(la.rand(100, 2)):abs():le(1):all()
true
see: game.perlin
== game.fbm
> la.game.fbm(la.rand(100, 2), {octaves = 6}):abs():le(1):all()
true
see: game.perlin
== game.curl
> la.game.curl(la.rand(100, 3)).shape
{100, 3}
source: Bridson, Hourihan and Nordenstam, Curl-noise for procedural fluid flow,
  2007.
see: game.perlin
== game.worley
> f1, f2 = la.game.worley(la.rand(100, 2))
> f1:le(f2):all()
true
source: Worley, A cellular texture basis function, 1996.
see: game.perlin
== game.poisson_disc
> p = la.game.poisson_disc({10, 10}, 2)
> p:pdist():min():ge(2):item()
true
source: Bridson, Fast Poisson disk sampling in arbitrary dimensions, 2007.
see: game.worley
== game.neighbors
> p = la.tensor{{0., 0}, {1, 0}, {9, 9}}
> starts, indices = la.game.neighbors(p, 2)
> starts, indices
tensor([1, 2, 3, 3])    tensor([2, 1])
see: game.nearest, cdist
== game.nearest
> p = la.tensor{{0., 0}, {1, 0}, {9, 9}}
> distances, indices = la.game.nearest(p, la.tensor{{0.25, 0}}, 2)
> distances, indices
tensor([[0.2500, 0.7500]])    tensor([[1, 2]])
see: game.neighbors, cdist
== game.distance_field
> la.game.distance_field(la.tensor{{true, false, false}})
tensor([[0., 1., 2.]])
source: Felzenszwalb and Huttenlocher, Distance transforms of sampled functions,
  2012.
see: game.sd_sphere
== game.astar
> cost = la.ones(3, 3)
> cost[{2, {1, 2}}] = la.inf
> la.game.astar(cost, {1, 1}, {3, 1}).shape
{7, 2}
source: Hart, Nilsson and Raphael, A formal basis for the heuristic
  determination of minimum cost paths, 1968.
see: game.flow_field
== game.flow_field
Use one field for a whole crowd that goes to the same goals.
> directions, distance = la.game.flow_field(la.ones(1, 4),
>>   {{1, 4}})
> distance
tensor([[3., 2., 1., 0.]])
see: game.astar
== game.align
> p, v = la.tensor{{0., 0}, {1, 0}}, la.tensor{{1., 0}, {0, 1}}
> la.game.align(p, v, 2)
tensor([[-1.,  1.],
        [ 1., -1.]])
see: game.boids
== game.cohere
> la.game.cohere(la.tensor{{0., 0}, {1, 0}}, 2)
tensor([[ 1.,  0.],
        [-1.,  0.]])
see: game.boids
== game.separate
> la.game.separate(la.tensor{{0., 0}, {1, 0}}, 2)
tensor([[-1.,  0.],
        [ 1.,  0.]])
see: game.boids
== game.boids
One step of a flock of any number of birds.
> p, v = la.rand(100, 2) * 10, la.randn(100, 2)
> p, v = la.game.boids(p, v, {dt = 0.1})
> la.game.length(v):le(1.0001):all()
true
source: Reynolds, Flocks, herds, and schools, 1987.
see: game.separate, game.align, game.cohere
== game.seek
> la.game.seek(la.zeros(1, 2), la.zeros(1, 2), la.tensor{3., 4})
tensor([[0.6000, 0.8000]])
source: Reynolds, Steering behaviors for autonomous characters, 1999.
see: game.arrive, game.flee
== game.flee
> la.game.flee(la.zeros(1, 2), la.zeros(1, 2), la.tensor{3., 4})
tensor([[-0.6000, -0.8000]])
see: game.seek
== game.arrive
> la.game.arrive(la.zeros(1, 2), la.zeros(1, 2), la.tensor{0.5, 0})
tensor([[0.5000, 0.0000]])
see: game.seek
== game.wander
> la.game.length(la.game.wander(la.zeros(2, 2), la.ones(2, 2), {step = 3}))
tensor([1.0000, 1.0000])
see: game.seek
]==]
