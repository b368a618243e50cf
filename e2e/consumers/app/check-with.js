/** Loads both models of a folder, runs them, and tells the results or the error. */
export async function checkWith({ Session, Tensor }, folder, options = {}) {
  const results = {};
  try {
    // By itself a session leaves an adapter in software alone.
    const hasGpu = (await globalThis.navigator?.gpu?.requestAdapter()) != null;
    for (const name of ['dense.weft', 'dense.onnx', 'compiled apart']) {
      // With limits a model is compiled in a thread of its own, where threads can be had.
      const isApart = name === 'compiled apart';
      const session = await Session.load(new URL(isApart ? 'dense.onnx' : name, folder).href, {
        ...(hasGpu && name === 'dense.weft' ? { device: 'webgpu' } : {}),
        ...options,
        ...(isApart ? { compileLimits: { nodes: 100_000 } } : {}),
      });
      const x = new Tensor('float32', Float32Array.of(1, -2, 3, 0.5), [1, 4]);
      const { y } = await session.run({ x });
      results[name] = { values: y.toNested(), device: session.device.kind };
      await session.dispose();
    }
    return { results };
  } catch (error) {
    const { name, message, details, stack } = error;
    return { error: { name, message, details, stack } };
  }
}
