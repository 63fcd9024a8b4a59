// SPDX-License-Identifier: MIT
namespace WebLab;

/// <summary>Work that never ends: state machines, their boxes and the closures of lambdas stay on the heap.</summary>
public static class Orders
{
    public sealed class Desk
    {
        readonly TaskCompletionSource<int> _closed = new();
        readonly List<Func<int, int>> _rules = new();

        public async Task<int> Wait(int customer)
        {
            Func<int, int> rule = x => x + customer;
            _rules.Add(rule);
            _rules.Add(static x => x + 1);
            await Task.Yield();
            int sum = await Later(customer);
            return rule(sum);
        }

        async ValueTask<int> Later<T>(T value)
        {
            int got = await _closed.Task;
            return got + value!.GetHashCode();
        }

        public IEnumerable<(int Number, string Text)> Numbers(int from)
        {
            while (true)
                yield return (from++, "x");
        }

        public async IAsyncEnumerable<int> Slow()
        {
            while (true)
            {
                await Task.Delay(1_000_000);
                yield return 1;
            }
        }
    }
}
