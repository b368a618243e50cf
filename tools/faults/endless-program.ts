import { compile, parseModule } from '../../src/compiler/index.ts';

/**
 * `main` runs a kernel of its own that never ends while the first element of its input is below 5: what
 * it reads is in a buffer, so that no compiler can know. `workgroups` of them take so many processors.
 */
export function endlessProgram(workgroups = 1): Uint8Array<ArrayBuffer> {
  return program(`
kernel @endless(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] {
  wgsl = """
@compute @workgroup_size(WORKGROUP_SIZE_X)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var sum = 0f;
  while (load_a(0u) < 5f) { sum = sum * 0.5f + load_a(1u); if (sum == 12345f) { store(1u, sum); } }
  store(id.x % 4u, sum);
}
""",
  params = [],
  sizes = [],
  grid = [${workgroups}, 1, 1],
  workgroup = [4, 1, 1]
}
def @main(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] { @endless(%x) }
`);
}

/** `main` doubles its input, with a kernel that ends. */
export function doubleProgram(): Uint8Array<ArrayBuffer> {
  return program(`
def @main(%x: Tensor[(4,), float32]) -> Tensor[(4,), float32] { add(%x, %x) }
`);
}

function program(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(compile(parseModule(text)).toBytes());
}
