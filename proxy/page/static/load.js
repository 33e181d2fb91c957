// load asks the proxy for what is not in its events.
export async function load(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(answer.status === 404 ? "It is not kept any more." : "The proxy answered " + answer.status + ".");
  return answer.json();
}
