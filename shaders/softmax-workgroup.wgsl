// Softmax or its logarithm along one axis, one row per workgroup.
var<workgroup> partial: array<f32, WORKGROUP_SIZE_X>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let i = min(group.x + group.y * params.row_length, params.count - 1u);
  let outer = i / params.inner;
  let start = outer * params.inner * params.size + (i - outer * params.inner);
  var largest = load_x(start);
  for (var k = lane; k < params.size; k += WORKGROUP_SIZE_X) {
    largest = max(largest, load_x(start + k * params.inner));
  }
  partial[lane] = largest;
  for (var half = WORKGROUP_SIZE_X / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[lane] = max(partial[lane], partial[lane + half]);
    }
  }
  workgroupBarrier();
  largest = partial[0];
  workgroupBarrier();
  var sum = 0.0;
  for (var k = lane; k < params.size; k += WORKGROUP_SIZE_X) {
    sum += exp(load_x(start + k * params.inner) - largest);
  }
  partial[lane] = sum;
  for (var half = WORKGROUP_SIZE_X / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial[lane] += partial[lane + half];
    }
  }
  workgroupBarrier();
  sum = partial[0];
  let log_sum = log(sum);
  for (var k = lane; k < params.size; k += WORKGROUP_SIZE_X) {
    let at = start + k * params.inner;
    let x = load_x(at) - largest;
    if (IS_LOG) {
      store(at, x - log_sum);
    } else {
      store(at, exp(x) / sum);
    }
  }
}
