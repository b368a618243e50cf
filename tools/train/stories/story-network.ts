import { headWidth, type StorySizes, weightShapes } from '../../../src/text/testing/story-sizes.ts';
import { declare, tensorType as tensor, trainingProgram, variables } from '../training-program.ts';

/** The training of the story model on batches [rows, length]; `@logits` gives those of rows of tokens. */
export function storyTraining(
  sizes: StorySizes,
  { rows, length }: { readonly rows: number; readonly length: number },
): string {
  const parameters = weightShapes(sizes);
  const batch = (dtype?: string): string => tensor([rows, length], dtype);
  return trainingProgram({
    parameters,
    inputs: [
      `%tokens: ${batch('int32')}`,
      `%targets: ${batch('int32')}`,
      `%shares: ${batch()}`,
      `%stories: ${batch('int32')}`,
    ],
    model: `${network(sizes)}${losses(sizes)}`,
    beta2: 0.98,
    decay: 0.1,
    clip: 1,
  });
}

function losses(sizes: StorySizes): string {
  const parameters = weightShapes(sizes);
  const names = variables(parameters.keys());
  return `
// The cross entropy of the targets, in nats: \`%shares\` weigh them and sum to 1.
private def @loss(
${declare(parameters)},
    %tokens: ${tensor(['b', 't'], 'int32')}, %targets: ${tensor(['b', 't'], 'int32')},
    %shares: ${tensor(['b', 't'])}, %stories: ${tensor(['b', 't'], 'int32')}) {
  %mask = @mask(%stories);
  %logits = @scores(${names}, %tokens, %mask);
  %all = log_softmax(%logits);
  %chosen = gather_elements(%all, reshape(%targets, shape=[b * t, 1]), axis=1);
  neg(reduce_sum(mul(reshape(%chosen, shape=[b, t]), %shares)))
}

def @logits(
${declare(parameters)},
    %tokens: ${tensor(['b', 't'], 'int32')}, %stories: ${tensor(['b', 't'], 'int32')}, results=["logits"]) {
  reshape(@scores(${names}, %tokens, @mask(%stories)), shape=[b, t, ${sizes.vocabulary}])
}
`;
}

function network(sizes: StorySizes): string {
  const { width, keyHeads, heads, layers, epsilon, theta } = sizes;
  const head = headWidth(sizes);
  const group = heads / keyHeads;
  const half = head / 2;
  const shapes = weightShapes(sizes);
  const layerNames = [
    'attention_norm',
    'query',
    'key',
    'value',
    'output',
    'feed_norm',
    'gate',
    'up',
    'down',
  ];
  const layerWeights = declare(
    new Map(layerNames.map((name) => [name, shapes.get(`l0.${name}`) ?? []])),
  );
  const calls = Array.from(
    { length: layers },
    (_, i) =>
      `  %x${i + 1} = @layer(${variables(layerNames.map((name) => `l${i}.${name}`))}, %x${i}, %mask, %cosines, %sines);`,
  ).join('\n');
  return `// 0 where a token sees an earlier one of its own story, else -1e9.
private def @mask(%stories: ${tensor(['b', 't'], 'int32')}) {
  %places = cast(arange(start=[0], size=[t]), to="int32");
  %earlier = less_equal(reshape(%places, shape=[1, 1, t]), reshape(%places, shape=[1, t, 1]));
  %same = equal(reshape(%stories, shape=[b, 1, t]), reshape(%stories, shape=[b, t, 1]));
  reshape(where(bitwise_and(%earlier, %same), 0f, -1000000000f), shape=[b, 1, 1, t, t])
}

// Rotary positions (Su et al. 2021), the halves of a head as pairs.
private def @rotate(
    %x: ${tensor(['b', 't', 'h', head])}, %cosines: ${tensor([1, 't', 1, half])},
    %sines: ${tensor([1, 't', 1, half])}) {
  %first = slice(%x, starts=[0, 0, 0, 0], ends=[b, t, h, ${half}]);
  %second = slice(%x, starts=[0, 0, 0, ${half}], ends=[b, t, h, ${head}]);
  concat(sub(mul(%first, %cosines), mul(%second, %sines)),
    add(mul(%second, %cosines), mul(%first, %sines)), axis=3)
}

private def @layer(
${layerWeights},
    %x: ${tensor(['b * t', width])}, %mask: ${tensor(['b', 1, 1, 't', 't'])},
    %cosines: ${tensor([1, 't', 1, half])}, %sines: ${tensor([1, 't', 1, half])}) -> ${tensor(['b * t', width])} {
  %normed = mul(rms_norm(%x, epsilon=${epsilon}), %attention_norm);
  %q = @rotate(reshape(matmul(%normed, %query), shape=[b, t, ${heads}, ${head}]), %cosines, %sines);
  %k = @rotate(reshape(matmul(%normed, %key), shape=[b, t, ${keyHeads}, ${head}]), %cosines, %sines);
  %v = transpose(reshape(matmul(%normed, %value), shape=[b, t, ${keyHeads}, ${head}]), perm=[0, 2, 1, 3]);
  %queries = reshape(transpose(reshape(%q, shape=[b, t, ${keyHeads}, ${group}, ${head}]), perm=[0, 2, 3, 1, 4]),
    shape=[b, ${keyHeads}, ${group} * t, ${head}]);
  %products = mul(matmul(%queries, transpose(%k, perm=[0, 2, 3, 1])), ${1 / Math.sqrt(head)}f);
  %seen = softmax(add(reshape(%products, shape=[b, ${keyHeads}, ${group}, t, t]), %mask));
  %mixed = matmul(reshape(%seen, shape=[b, ${keyHeads}, ${group} * t, t]), %v);
  %joined = reshape(transpose(reshape(%mixed, shape=[b, ${keyHeads}, ${group}, t, ${head}]), perm=[0, 3, 1, 2, 4]),
    shape=[b * t, ${width}]);
  %y = add(%x, matmul(%joined, %output));
  %fed = mul(rms_norm(%y, epsilon=${epsilon}), %feed_norm);
  %gated = matmul(%fed, %gate);
  add(%y, matmul(mul(mul(%gated, sigmoid(%gated)), matmul(%fed, %up)), %down))
}

// Logits [b * t, ${sizes.vocabulary}]; the embedding is the head too.
private def @scores(
${declare(shapes)},
    %tokens: ${tensor(['b', 't'], 'int32')}, %mask: ${tensor(['b', 1, 1, 't', 't'])}) -> ${tensor(['b * t', sizes.vocabulary])} {
  %places = cast(arange(start=[0], size=[t]), to="float32");
  %pairs = cast(arange(start=[0], size=[${half}]), to="float32");
  %frequencies = exp(mul(%pairs, ${-Math.log(theta) / half}f));
  %angles = mul(reshape(%places, shape=[1, t, 1, 1]), reshape(%frequencies, shape=[1, 1, 1, ${half}]));
  %cosines = cos(%angles);
  %sines = sin(%angles);
  %x0 = gather(%embedding, reshape(%tokens, shape=[b * t]), axis=0);
${calls}
  matmul(mul(rms_norm(%x${layers}, epsilon=${epsilon}), %norm), transpose(%embedding, perm=[1, 0]))
}
`;
}
