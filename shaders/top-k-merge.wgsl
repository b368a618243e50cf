// One step of a bitonic network over whole rows of candidates.
fn compute_at(i: u32) {
  let row = i / (params.candidates / 2u);
  let pair = i - row * (params.candidates / 2u);
  let stride = params.stride;
  let first = row * params.candidates + pair / stride * stride * 2u;
  let inside = pair % stride;
  let low = first + inside;
  let high = select(low + stride, first + 2u * stride - 1u - inside, params.flip != 0u);
  let low_index = load_candidates(low);
  let high_index = load_candidates(high);
  if (high_index == NOWHERE) {
    return;
  }
  if (
    low_index == NOWHERE ||
    comes_before(key_at(row, high_index), high_index, key_at(row, low_index), low_index)
  ) {
    store_candidates(low, high_index);
    store_candidates(high, low_index);
  }
}
