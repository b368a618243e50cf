// Of a part of a row: the maximum, and the sum of exponentials relative to it.
alias Part = vec2<f32>;

fn joined(a: Part, b: Part) -> Part {
  let largest = max(a.x, b.x);
  return Part(largest, a.y * exp(a.x - largest) + b.y * exp(b.x - largest));
}
