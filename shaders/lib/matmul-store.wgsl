// Four adjacent elements of alpha * A B + beta * bias, those inside of it; `store_quad` is in
// lib/store-quad-*.wgsl.
fn store_four(row: u32, column: u32, batch: u32, sums: Element4) {
  if (row >= params.m || column >= params.n) {
    return;
  }
  var results = sums;
  if (HAS_ALPHA) {
    results *= Element(params.alpha);
  }
  if (HAS_C) {
    let start = batch % params.batch_size1 * params.c_batch + row * params.c_row;
    let at = start + column * params.c_column;
    let last = start + (params.n - 1u) * params.c_column;
    results += Element(params.beta) * Element4(
      load_c(at),
      load_c(min(at + params.c_column, last)),
      load_c(min(at + 2u * params.c_column, last)),
      load_c(min(at + 3u * params.c_column, last)),
    );
  }
  store_quad((batch * params.m + row) * params.n + column, params.n - column, results);
}
