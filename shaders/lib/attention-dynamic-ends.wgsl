// Where the keys end that queries at some positions of a batch see, perhaps beyond the last key: the place of the first
// query is an element.
fn ends_of(batch: u32, positions: vec4<u32>) -> vec4<u32> {
  let first = vec4<i32>(load_first(batch / params.kv_heads));
  return vec4<u32>(max(vec4<i32>(positions) + first + 1, vec4<i32>()));
}
