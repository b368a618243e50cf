// What LANES adjacent invocations have, joined in a fixed order: first those of NEAR of them by
// shuffles (`join_near` is unrolled), then through workgroup memory. The shader around it gives
// `Part` and `joined`, and calls where all invocations are.
var<workgroup> parts: array<Part, WORKGROUP_SIZE_X / NEAR>;

fn join_lanes(index: u32, value: Part) -> Part {
  let near = join_near(value);
  if (NEAR == LANES) {
    return near;
  }
  let lane = index % LANES;
  let first = (index - lane) / NEAR;
  workgroupBarrier();
  if (lane % NEAR == 0u) {
    parts[first + lane / NEAR] = near;
  }
  for (var half = LANES / NEAR / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      parts[first + lane] = joined(parts[first + lane], parts[first + lane + half]);
    }
  }
  workgroupBarrier();
  return parts[first];
}
