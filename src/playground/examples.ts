/** A program of the menu. */
export interface Example {
  readonly title: string;
  readonly program: string;
  /** JSON, by the names of the parameters. */
  readonly input: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'A dense layer',
    program: `// Operators fuse: three calls become one kernel.
def @main(%x: Tensor[(n, 2), float32]) {
  %0 = matmul(%x, [[1f, 0f, -1f], [0f, 2f, 0f]]);
  %1 = add(%0, [0.5f, 0f, 0f]);
  relu(%1)
}
`,
    input: '{ "x": [[1, 2], [-1, 1]] }',
  },
  {
    title: 'Recursion',
    program: `// A loop is a function that calls itself; the call in tail position becomes a jump.
def @main(%x: Tensor[(n,), float32], %times: int) {
  if (%times) { @main(mul(%x, 2f), int_sub(%times, #1)) } else { %x }
}
`,
    input: '{ "x": [1, 2, 3], "times": 10 }',
  },
  {
    title: 'A gradient',
    program: `// The pass "gradient" writes the derivative of the loss as a program.
def @loss(%w: Tensor[(2,), float32], %x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32]) {
  mean_squared_error(matmul(%x, %w), %y)
}

def @main(%w: Tensor[(2,), float32], %x: Tensor[(n, 2), float32], %y: Tensor[(n,), float32]) {
  let %r = gradient(fn (%w: Tensor[(2,), float32]) { @loss(%w, %x, %y) })(%w);
  (%r.0, %r.1.0)
}
`,
    input: '{ "w": [1, 0], "x": [[2, 1]], "y": [0] }',
  },
  {
    title: 'A tree',
    program: `// A data type of two constructors; match takes values apart. The program descends as deep as the tree is.
type Tree { Node(Tree, Tree), Leaf(Tensor[(?,), float32]) }

def @total(%tree: Tree) -> Tensor[(), float32] {
  match (%tree) {
    Node(%left, %right) => add(@total(%left), @total(%right)),
    Leaf(%x) => reduce_sum(%x),
  }
}

def @main(%tree: Tree) { @total(%tree) }
`,
    input:
      '{ "tree": { "constructor": "Node", "fields": [{ "constructor": "Leaf", "fields": [[1, 2]] }, { "constructor": "Leaf", "fields": [[3]] }] } }',
  },
  {
    title: 'A closure',
    program: `// Functions are values. The compiler gives each what it uses from around it.
def @twice(%f: fn (Tensor[(n,), float32]) -> Tensor[(n,), float32], %x: Tensor[(n,), float32])
    -> Tensor[(n,), float32] {
  %f(%f(%x))
}

def @main(%x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) {
  @twice(fn (%z: Tensor[(n,), float32]) { add(%z, %y) }, %x)
}
`,
    input: '{ "x": [1, 2], "y": [10, 20] }',
  },
];
