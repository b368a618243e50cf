// Of a part of a row: the mean less the row's first element, squares about it, and how many elements there are.
alias Part = vec3<f32>;

fn joined(a: Part, b: Part) -> Part {
  let count = max(a.z + b.z, 1.0);
  let rest = b.x - a.x;
  let step = rest * b.z / count;
  return Part(a.x + step, a.y + b.y + rest * step * a.z, count);
}
