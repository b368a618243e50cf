// Where the keys end that queries at some positions of a batch see; `params.first` is that of the first query.
fn ends_of(batch: u32, positions: vec4<u32>) -> vec4<u32> {
  return positions + params.first + 1u;
}
