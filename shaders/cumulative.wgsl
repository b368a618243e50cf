// What the elements along one axis come to up to each of them. LANES invocations share a row.
alias Part = Element;

fn joined(a: Part, b: Part) -> Part {
  return combine(a, b);
}

var<workgroup> scanned: array<Element, WORKGROUP_SIZE_X>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let within = lane % LANES;
  let row = (group.x + group.y * params.row_length) * (WORKGROUP_SIZE_X / LANES) + lane / LANES;
  let i = min(row, params.count - 1u);
  let outer = i / params.inner;
  let start = outer * params.inner * params.size + (i - outer * params.inner);
  var carry = initial();
  // Of a long row: what its blocks come to, and those elements behind them.
  var kept = initial();
  var part = initial();
  for (var base = 0u; base < params.size; base += LANES) {
    let k = base + within;
    let at = start + min(select(k, params.size - 1u - k, IS_REVERSE), params.size - 1u) * params.inner;
    var inclusive = initial();
    if (k < params.size) {
      inclusive = load_x(at);
    }
    var before = initial();
    var total = inclusive;
    if (LANES > 1u) {
      for (var step = 1u; step < LANES; step *= 2u) {
        scanned[lane] = inclusive;
        workgroupBarrier();
        let left = scanned[max(lane, step) - step];
        workgroupBarrier();
        if (within >= step) {
          inclusive = combine(left, inclusive);
        }
      }
      scanned[lane] = inclusive;
      workgroupBarrier();
      if (within > 0u) {
        before = scanned[lane - 1u];
      }
      total = scanned[lane - within + LANES - 1u];
      workgroupBarrier();
    }
    if (k < params.size && row < params.count) {
      if (IS_EXCLUSIVE) {
        store(at, combine(carry, before));
      } else {
        store(at, combine(carry, inclusive));
      }
    }
    if (IS_LONG) {
      part = after_round(combine(part, total));
      if (rounds % BLOCK == 0u) {
        kept = join_blocks(initial());
      }
      carry = combine(kept, part);
    } else {
      carry = combine(carry, total);
    }
  }
}
