/**
 * Runs what a service worker can of each entry, all on WebAssembly, and tells the results and the errors of what it cannot. `folder` holds
 * the models.
 */
export async function checkModels(
  { Session, Tensor, TextModel, imageClassifier, readSound },
  folder,
) {
  const device = 'wasm';
  try {
    const session = await Session.load(new URL('dense.weft', folder).href, { device });
    const x = new Tensor('float32', Float32Array.of(1, -2, 3, 0.5), [1, 4]);
    const { y } = await session.run({ x });
    const results = { 'dense.weft': { values: y.toNested(), device: session.device.kind } };
    await session.dispose();

    const model = await TextModel.load(new URL('text/', folder).href, { device });
    const options = { maxTokens: 12, temperature: 0 };
    const text = await model.generate('Mia went', options).text();
    const constraint = await model.constraint({ type: 'regex', regex: '(yes|no), Mia' });
    const chat = await model
      .chat([{ role: 'user', content: 'Mia?' }], { ...options, constraint })
      .text();
    await model.dispose();

    const classifier = await imageClassifier(new URL('colours/', folder).href, { device });
    const canvas = new OffscreenCanvas(8, 8);
    const context = canvas.getContext('2d');
    context.fillStyle = 'blue';
    context.fillRect(0, 0, 8, 8);
    const [best] = await classifier.classify(canvas);
    await classifier.dispose();

    const refusals = {
      worker: await errorOf(Session.load(new URL('dense.weft', folder).href, { worker: true })),
      sound: await errorOf(readSound(new Blob(['RIFF']), 16_000)),
    };
    return { results, models: { text, chat, label: best.label, score: best.score }, refusals };
  } catch (error) {
    return { error: dataOf(error) };
  }
}

/** The errors of the entries that load code by `import()`. */
export async function checkRefusals({ TextModel, imageClassifier, preparePictures }, folder) {
  const pixels = { width: 1, height: 1, data: new Uint8Array(3) };
  return {
    refusals: {
      text: await errorOf(TextModel.load(new URL('text/', folder).href)),
      files: await errorOf(TextModel.load(() => undefined, { file: 'model.gguf' })),
      tasks: await errorOf(imageClassifier(new URL('colours/', folder).href)),
      pictures: await errorOf(preparePictures([pixels])),
    },
  };
}

const errorOf = (promise) => promise.then(() => undefined, dataOf);

function dataOf({ name, message, details, stack }) {
  return { name, message, details, stack };
}
