// Where the keys begin that a query sees whose keys end there.
fn begins_of(ends: vec4<u32>) -> vec4<u32> {
  return ends - min(ends, vec4<u32>(params.window));
}
