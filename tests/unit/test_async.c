/* Stacks of asynchronous operations, on graphs as CoreCLR makes them and on hostile ones; the names
 * of async methods. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/async_names.h>

#include "graph/graph_build.h"
#include "support/cases.h"
#include "support/async_graph.h"
#include "support/check.h"
#include "support/failalloc.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* ---- names ---- */

static const struct {
    const char *type, *machine, *method;
} names[] = {
    { "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.String>.AsyncStateMachineBox<"
      "Shop.Rpc.<Call>d__2>",
      "Shop.Rpc.<Call>d__2", "Shop.Rpc.Call" },
    { "AsyncStateMachineBox<System.String, Shop.Rpc.<Call>d__2>", "Shop.Rpc.<Call>d__2",
      "Shop.Rpc.Call" },
    { "AsyncStateMachineBox<Shop.Pair<System.Int32, System.String>, Program.<<Main>$>d__0>",
      "Program.<<Main>$>d__0", "Program.Main" },
    { "AsyncStateMachineBox<X, Program.<>c.<<<Main>$>b__0_1>d>", "Program.<>c.<<<Main>$>b__0_1>d",
      "Program.Main (lambda)" },
    { "AsyncStateMachineBox<X, Shop.Table<A, B>.<Get>d__0<System.Guid, C>>",
      "Shop.Table<A, B>.<Get>d__0<System.Guid, C>", "Shop.Table<A, B>.Get<System.Guid, C>" },
    { "AsyncStateMachineBox<X, Shop.Calls.<<Local>g__Inner|3_0>d>",
      "Shop.Calls.<<Local>g__Inner|3_0>d", "Shop.Calls.Local.Inner" },
    { "AsyncStateMachineBox<X, Shop.Calls.<>c.<<Plant>b__0>d>", "Shop.Calls.<>c.<<Plant>b__0>d",
      "Shop.Calls.Plant (lambda)" },
    { "AsyncStateMachineBox<X, Shop.Calls.<>c__DisplayClass3_0<T>.<>c.<<Plant>b__0>d>",
      "Shop.Calls.<>c__DisplayClass3_0<T>.<>c.<<Plant>b__0>d", "Shop.Calls.Plant (lambda)" },
    { "AsyncStateMachineBox<X, Shop.Slow.<System.IAsyncDisposable.DisposeAsync>d__2>",
      "Shop.Slow.<System.IAsyncDisposable.DisposeAsync>d__2", "Shop.Slow.DisposeAsync" },
    { "AsyncStateMachineBox<X, Shop.Old.VB$StateMachine_12_Call>",
      "Shop.Old.VB$StateMachine_12_Call", "Shop.Old.Call" },
    { "AsyncStateMachineBox<X, Shop.ResumableStateMachine<Y>>", "Shop.ResumableStateMachine<Y>",
      "Shop.ResumableStateMachine<Y>" },
    { "System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<X>.StateMachineBox<S.<A>"
      "d__1>",
      "S.<A>d__1", "S.A" },
    { "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<X>."
      "DebugFinalizableAsyncStateMachineBox<S.<A>d__1>",
      "S.<A>d__1", "S.A" },
    { "AsyncStateMachineBox<<A>d__1>", "<A>d__1", "A" },
    { "AsyncStateMachineBox<X, <>c.<<A>b__1>d>", "<>c.<<A>b__1>d", "A (lambda)" },
    { "AsyncStateMachineBox<X, Harbour.load@23>", "Harbour.load@23", "Harbour.load, line 23" },
    { "AsyncStateMachineBox<X, Harbour.load@23-1<Y>>", "Harbour.load@23-1<Y>",
      "Harbour.load, line 23" },
    /* no boxes */
    { "AsyncStateMachineBox<X, S.<A>d__1>[]", NULL, NULL },
    { "Shop.AsyncStateMachineBox<X, S.<A>d__1>", NULL, NULL },
    { "Shop.MyAsyncStateMachineBox<X, S.<A>d__1>", NULL, NULL },
    { "System.Collections.Generic.List<AsyncStateMachineBox<X, S.<A>d__1>>", NULL, NULL },
    { "AsyncStateMachineBox", NULL, NULL },
    { "AsyncStateMachineBox<>", NULL, NULL },
    { "AsyncStateMachineBox<X, >", NULL, NULL },
    { "", NULL, NULL },
    { ">", NULL, NULL },
    { "<>", NULL, NULL },
    { "AsyncStateMachineBox>", NULL, NULL },
    { "a]>", NULL, NULL },
};

static void names_of_methods(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *machine;
        size_t n;
        char text[200], cut[6];
        char step[GCD_ASYNC_STEP_BYTES];
        assert_int_equal(gcd_async_machine(names[i].type, &machine, &n), names[i].machine != NULL);
        if (names[i].machine == NULL) {
            assert_ptr_equal(gcd_async_step_name(names[i].type, true, false, step), names[i].type);
            continue;
        }
        assert_ptr_equal(gcd_async_step_name(names[i].type, true, false, step), step);
        assert_true(strncmp(step, "async ", 6) == 0);
        assert_string_equal(step + 6, names[i].method);
        assert_int_equal(n, strlen(names[i].machine));
        assert_memory_equal(machine, names[i].machine, n);
        gcd_async_method(machine, n, text, sizeof text);
        assert_string_equal(text, names[i].method);
        gcd_async_method(machine, n, cut, sizeof cut);
        assert_true(strlen(cut) <= 5 && strncmp(cut, text, strlen(cut)) == 0);
    }
}

/* Other types that compilers make of methods. */
static void names_of_made_types(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        bool known, async;
        const char *step; /* NULL = the type */
    } made[] = {
        { "Shop.Cart.<Items>d__6", true, false, "iterator Shop.Cart.Items" },
        { "Shop.Cart.<Items>d__6<System.Int32>", true, false,
          "iterator Shop.Cart.Items<System.Int32>" },
        { "Shop.Cart.<Pay>d__7", true, true, "state of async Shop.Cart.Pay" },
        { "Shop.Cart.<Items>d__6", false, false, NULL },
        { "Shop.Cart.<Items>d__6 [Shop.dll]", true, false, "iterator Shop.Cart.Items" },
        { "Shop.Cart.VB$StateMachine_3_Items", true, false, "iterator Shop.Cart.Items" },
        { "Shop.Cart.<>c__DisplayClass5_0", true, false, "variables of a lambda in Shop.Cart" },
        { "Shop.Cart.<>c [Shop 0x02000005]", false, false, "variables of a lambda in Shop.Cart" },
        { "<>c", true, false, NULL },
        { "<>c [Shop 0x02000005]", true, false, NULL },
        { "Shop.Cart._Closure$__2-0", true, false, "variables of a lambda in Shop.Cart" },
        { "Shop.Cart.<>c.<<A>b__1>d__3", true, false, "iterator Shop.Cart.A (lambda)" },
        { "Harbour.berth@14", true, false, "function in Harbour.berth, line 14" },
        { "Harbour.berth@14-2", true, false, "function in Harbour.berth, line 14" },
        { "Harbour.berth@14-2<System.Int32, A@3>", true, false,
          "function in Harbour.berth, line 14" },
        { "<StartupCode$Shop>.$Harbour.clo@8", true, false, "function in Harbour.clo, line 8" },
        { "<>f__AnonymousType12<System.String, System.Int32>", true, false,
          "anonymous type 12<System.String, System.Int32>" },
        { "<>f__AnonymousType0<A>[] [Shop.dll]", false, false, "anonymous type 0<A>[] [Shop.dll]" },
        { "Shop.<>f__AnonymousType0", true, false, NULL },
        { "Shop.Cart.<Items>d__6[]", true, false, NULL },
        { "System.Collections.Generic.List<Shop.Cart.<Items>d__6>", true, false, NULL },
        { "Shop.Cart", true, false, NULL },
        { "@14", true, false, NULL },
        { "a@", true, false, NULL },
        { "a@1b", true, false, NULL },
        { "", true, false, NULL },
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char step[GCD_ASYNC_STEP_BYTES];
        const char *got = gcd_async_step_name(made[i].type, made[i].known, made[i].async, step);
        assert_string_equal(got, made[i].step != NULL ? made[i].step : made[i].type);
    }
}

static void blocks_of_lambdas(void **state)
{
    (void)state;
    assert_int_equal(gcd_lambda_block("Shop.Cart.<>c__DisplayClass5_0"), 0);
    assert_int_equal(gcd_lambda_block("Shop.Cart.<>c__DisplayClass15_12<T> [Shop.dll]"), 12);
    assert_int_equal(gcd_lambda_block("Shop.Cart._Closure$__2-3"), 3);
    assert_int_equal(gcd_lambda_block("Shop.Cart.<>c"), 0);
    assert_int_equal(gcd_lambda_block("Shop.Cart_5"), 0);
    assert_int_equal(gcd_lambda_block("<>c__DisplayClass5_99999999999999"), 999999);
}

/* The method of a lambda is that of the source. */
static void methods_of_lambdas(void **state)
{
    (void)state;
    static const struct {
        const char *class, *method, *want; /* NULL = unknown */
    } lambdas[] = {
        { "Shop.Cart.<>c__DisplayClass5_0", "Add", "Shop.Cart.Add" },
        { "Shop.Cart<T>.<>c__DisplayClass5_0<T> [Shop.dll]", "Add", "Shop.Cart<T>.Add" },
        { "Program.<>c__DisplayClass0_1", "<Main>$", "Program.Main" },
        { "Shop.Cart.<>c__DisplayClass5_0", "Shop.ICart.Add", "Shop.Cart.Add" },
        { "Shop.Cart.<>c__DisplayClass5_0", "get_Items", "Shop.Cart.Items" },
        { "Shop.Cart.<>c__DisplayClass5_0", "get_", "Shop.Cart.get_" },
        { "Shop.Cart.<>c__DisplayClass5_0", ".ctor", "Shop.Cart" },
        { "<>c__DisplayClass5_0", "Add", NULL },
        { "Shop.Cart.<>c__DisplayClass5_0", "", NULL },
        { "Shop.Cart", "Add", NULL },
        { "Shop.Cart.<>c", "MuchTooLongForTheTextThatIsToTakeIt", NULL },
    };
    for (size_t i = 0; i < sizeof lambdas / sizeof *lambdas; i++) {
        char text[32];
        const char *method = lambdas[i].method;
        bool known = gcd_lambda_method(lambdas[i].class, method, strlen(method), text, sizeof text);
        assert_int_equal(known, lambdas[i].want != NULL);
        if (known)
            assert_string_equal(text, lambdas[i].want);
    }
}

static void methods_of_calls(void **state)
{
    (void)state;
    static const struct {
        const char *class, *method, *want;
    } calls[] = {
        { "Shop.Pump", "Run", "Shop.Pump.Run" },
        { "Shop.Mailer<T>", "Loop", "Shop.Mailer<T>.Loop" },
        { "Shop.Pump", "Shop.IPump.Run", "Shop.Pump.Run" },
        { "Shop.Pump", ".ctor", "Shop.Pump..ctor" },
        { "Shop.Program", "<Main>$", "Shop.Program.Main" },
        { "Shop.Program.<>c", "<<Main>$>b__0_1", "Shop.Program.Main (lambda)" },
        { "Shop.Program", "<<Main>$>g__Sell|0_1", "Shop.Program.Main.Sell" },
        { "Shop.Cart.<<Add>g__Next|1_0>d", "MoveNext", "Shop.Cart.Add.Next" },
        { "Shop.Cart.<<Add>g__Next|1_0>d<System.Int32>", "MoveNext",
          "Shop.Cart.Add.Next<System.Int32>" },
        { "Shop.Cart.<>c", "<<Add>b__0>b__1", "Shop.Cart.Add (lambda)" },
        { "Shop.Program", "<Main>g__Step|0_1", "Shop.Program.Main.Step" },
        { "Shop.Program.<>c", "<Main>b__0_1", "Shop.Program.Main (lambda)" },
        { "Shop.Program.<>c__DisplayClass1_0", "<Main>b__2", "Shop.Program.Main (lambda)" },
        { "Shop.Pump.<RunAsync>d__3", "MoveNext", "Shop.Pump.RunAsync" },
        { "Harbour.berth@14", "Invoke", "Harbour.berth, line 14" },
        { "<StartupCode$Harbour>.$Main.berth@14", "Invoke", "Main.berth, line 14" },
        { "<StartupCode$Harbour>.$Main", "main@", "Main.main" },
        { "<StartupCode$Harbour>.$Main", ".cctor", "Main..cctor" },
        { "Shop.Program.VB$StateMachine_3_Pay", "MoveNext", "Shop.Program.Pay" },
        { "Shop.Program._Closure$__4-0", "_Lambda$__0", "Shop.Program (lambda)" },
        { "Shop.Program._Closure$__4-0", ".ctor", "Shop.Program..ctor" },
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char text[64];
        gcd_call_name(calls[i].class, calls[i].method, text, sizeof text);
        assert_string_equal(text, calls[i].want);
    }
}

/* Names of any form stay within their bounds, and cuts fall between characters. */
static void odd_names(void **state)
{
    static const char *const odd[] = { "<",     ">",        "<>",    "<<>",
                                       "<a",    "a>",       "<a>",   "<>c.",
                                       ".<a>d", "<a>.<b>d", "[<a>d", "<\xc3\xa4\xc3\xa4>d__1",
                                       "" };
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t cap = 1; cap < sizeof text; cap++) {
            memset(text, 'x', sizeof text);
            gcd_async_method(odd[i], strlen(odd[i]), text, cap);
            assert_true(strlen(text) < cap);
            gcd_made_of_method(odd[i], text, cap);
            assert_true(strlen(text) < cap);
            gcd_call_name(odd[i], odd[sizeof odd / sizeof *odd - 1 - i], text, cap);
            assert_true(strlen(text) < cap);
        }
    gcd_async_method("<\xc3\xa4\xc3\xa4>d", 7, text, 4);
    assert_string_equal(text, "\xc3\xa4");
}

/* ---- stacks ---- */

#define RT_CALL         RUNTIME "Continuation"
#define RT_WAIT         RUNTIME "RuntimeAsyncTaskContinuation"
#define RT_TASK         RUNTIME "AsyncHelpers+RuntimeAsyncTask`1[System.Int32]"
#define RT_METHOD       "a runtime-async method"
#define CALL            BOX("Shop.Rpc+<Call>d__2")
#define SEND            BOX("Shop.Rpc+<Send>d__3")
#define ITEMS           BOX("Shop.Feed+<Items>d__4")
#define ITEMS_MACHINE   "Shop.Feed+<Items>d__4"
#define MACHINE(method) "Shop.Rpc+<" method ">d__3"

struct sample {
    const char *want;
    struct async_object objects[16];
};

static const struct sample samples[] = {
    /* A call that waits for another, that waits for a task. */
    { "1 TaskCompletionSource<Shop.Reply> < Shop.Rpc.Send < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 4), OBJECT(CALL, 5, 0, 1, 2), OBJECT(SEND, 5, 1, 0, 2, 3),
        OBJECT(TASKS "Task`1[Shop.Reply]", 2),
        OBJECT(TASKS "TaskCompletionSource`1[Shop.Reply]", 3), LEAF(CONTEXT) } },
    /* The same without optimization: the state machines are objects. */
    { "1 TaskCompletionSource < Shop.Rpc.Send < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 3), OBJECT(BOX(MACHINE("Call")), 6, 4),
        OBJECT(BOX(MACHINE("Send")), 6, 1, 5), OBJECT(TASK, 2), OBJECT(MACHINE("Call"), 0, 1, 2),
        OBJECT(MACHINE("Send"), 0, 2, 3), LEAF(CONTEXT) } },
    /* A parameter in the place of the continuation is not one: no object refers to box 1 after its
       builder. */
    { "1 TaskCompletionSource < Shop.Rpc.Send < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 3), OBJECT(CALL, 2, 1, 2), OBJECT(SEND, 1, 2, 3),
        OBJECT(TASK, 2) } },
    /* Several wait for one: a list of continuations; a box, an Action, one with a context. */
    { "3 TaskCompletionSource < Shop.Rpc.Send\n",
      { OBJECT("Shop.Kept", 4), OBJECT(SEND, 1, 4), OBJECT(SEND, 2, 4), OBJECT(SEND, 3, 4),
        OBJECT(TASK, 5), OBJECT(LIST, 6), OBJECT(ARRAY, 1, 7, 8), OBJECT(ACTION, 2),
        OBJECT(TASKS "SynchronizationContextAwaitTaskContinuation", 9, 10), OBJECT(ACTION, 3),
        LEAF("Shop.Context") } },
    /* A list of anything is no list of continuations, even in that place. */
    { "1 Task.Delay < Shop.Rpc.Call\n1 Task.Delay < Shop.Rpc.Send\n",
      { OBJECT("Shop.Kept", 1, 2), OBJECT(CALL, 5, 1, 3), OBJECT(SEND, 2, 4),
        OBJECT(TASK "+DelayPromise", 1), OBJECT(TASK "+DelayPromise", 2), OBJECT(LIST, 6),
        OBJECT(ARRAY, 2, 0) } },
    /* Task.Run of an async method; WhenAll and WhenAny. */
    { "1 Task.Delay < Shop.Rpc.Send < Task.Run or Unwrap < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 4), OBJECT(CALL, 1, 2),
        OBJECT(TASKS "UnwrapPromise`1[System.Int32]", 1), OBJECT(SEND, 2, 3, 4),
        OBJECT(TASK "+DelayPromise", 3) } },
    { "1 TaskCompletionSource < Task.WhenAll < Shop.Rpc.Call\n2 Task.Delay < Shop.Rpc.Send < "
      "Task.WhenAll < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 5, 6, 7), OBJECT(CALL, 1, 2), OBJECT(TASK "+WhenAllPromise", 1),
        OBJECT(SEND, 2, 3, 5), OBJECT(SEND, 2, 4, 6), OBJECT(TASK "+DelayPromise", 3),
        OBJECT(TASK "+DelayPromise", 4), OBJECT(TASK, 2) } },
    /* Only one box of a method has WhenAll in that place: it is a part of it, or keeps it in a
       field. */
    { "1 Task.Delay < Shop.Rpc.Send < Task.WhenAll~ < Shop.Rpc.Call\n1 TaskCompletionSource < "
      "Task.WhenAll < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 4, 5), OBJECT(CALL, 1, 2), OBJECT(TASK "+WhenAllPromise", 1),
        OBJECT(SEND, 2, 3, 4), OBJECT(TASK "+DelayPromise", 3), OBJECT(TASK, 2) } },
    { "1 Task.Delay < Task.WhenAny < Shop.Rpc.Call\n1 TaskCompletionSource < Shop.Rpc.Send < "
      "Task.WhenAny < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 4, 5), OBJECT(CALL, 1, 2),
        OBJECT(TASK "+TwoTaskWhenAnyPromise`1[" TASK "]", 1, 3, 4), OBJECT(SEND, 2, 3, 5),
        OBJECT(TASK "+DelayPromise", 2), OBJECT(TASK, 3) } },
    { "1 Task.Delay < Task.WhenAny\n1 TaskCompletionSource < Task.WhenAny\n",
      { OBJECT("Shop.Kept", 1, 2, 3),
        OBJECT(TASKS "TaskFactory+CompleteOnInvokePromise`1[" TASK "]", 4),
        OBJECT(TASK "+DelayPromise", 1), OBJECT(TASK, 1), OBJECT(TASK "[]", 2, 3, 5),
        OBJECT(TASK, 6), LEAF(SENTINEL) } },
    /* WhenAll knows its tasks by an array; what is over does not count. */
    { "1 TaskCompletionSource<System.Int32> < Task.WhenAll\n",
      { OBJECT("Shop.Kept", 1), OBJECT(TASK "+WhenAllPromise`1[System.Int32]", 2),
        OBJECT(TASKS "Task`1[System.Int32][]", 3, 4), OBJECT(TASKS "Task`1[System.Int32]", 1),
        OBJECT(SEND, 5, 6), LEAF(SENTINEL), LEAF("System.String") } },
    /* ContinueWith and WaitAsync; a thread that blocks. */
    { "1 TaskCompletionSource < Task.ContinueWith < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 4), OBJECT(CALL, 1, 2),
        OBJECT(TASKS "ContinuationTaskFromTask", 5, 1, 4),
        OBJECT(TASKS "ContinueWithTaskContinuation", 2, 6), OBJECT(TASK, 3),
        LEAF("System.Action`1[" TASK "]"), LEAF(TASKS "ThreadPoolTaskScheduler") } },
    /* What it calls, if a compiler has made a class for it; not what is behind another task. */
    { "1 TaskCompletionSource < Task.ContinueWith < lambda in Shop.Poller\n",
      { OBJECT("Shop.Kept", 3), OBJECT(TASKS "ContinuationTaskFromTask", 4, 3),
        OBJECT(TASKS "ContinueWithTaskContinuation", 1, 6), OBJECT(TASK, 2),
        OBJECT("System.Action`1[" TASK "]", 5), LEAF("Shop.Poller+<>c__DisplayClass3_0"),
        LEAF(TASKS "ThreadPoolTaskScheduler") } },
    { "1 TaskCompletionSource < Task.ContinueWith < Shop.Main.work, line 8\n",
      { OBJECT("Shop.Kept", 3),
        OBJECT(TASKS "ContinuationTaskFromResultTask`1[System.Int32]", 4, 3),
        OBJECT(TASKS "ContinueWithTaskContinuation", 1, 9), OBJECT(TASK, 2),
        OBJECT("System.Action`1[" TASK "]", 5),
        OBJECT("<StartupCode$FSharp-Core>.$Async+clo@193-1", 6),
        OBJECT("Microsoft.FSharp.Control.AsyncActivationContents`1[System.Int32]", 5, 7),
        OBJECT("Microsoft.FSharp.Control.AsyncPrimitives+Bind@588[System.Int32,System.Int32]", 8),
        LEAF("Shop.Main+work@8-1"), LEAF(TASKS "ThreadPoolTaskScheduler") } },
    /* a parameter of the method, before its box and the awaiter, is not its continuation */
    { "1 TaskCompletionSource < Task.WhenAll < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 3), OBJECT(CALL, 2, 1, 2), OBJECT(TASK "+WhenAllPromise", 1),
        OBJECT(TASK, 2) } },
    { "1 TaskCompletionSource < Task.ContinueWith\n",
      { OBJECT("Shop.Kept", 3), OBJECT(TASKS "ContinuationTaskFromTask", 4, 3),
        OBJECT(TASKS "ContinueWithTaskContinuation", 1, 6), OBJECT(TASK, 2, 5),
        LEAF("System.Action`1[" TASK "]"), LEAF("Shop.Poller+<>c__DisplayClass3_0"),
        LEAF(TASKS "ThreadPoolTaskScheduler") } },
    { "1 (a delegate that runs or is queued) < Task.ContinueWith\n",
      { OBJECT("Shop.Kept", 1), OBJECT(TASKS "ContinuationResultTaskFromTask`1[System.Int32]", 2),
        LEAF("System.Func`1[System.Int32]") } },
    { "1 SemaphoreSlim.WaitAsync < Task.WaitAsync < Shop.Rpc.Call < (a thread blocks in Wait or "
      "Result)\n",
      { OBJECT("Shop.Kept", 3, 4), OBJECT(CALL, 4, 1, 2),
        OBJECT(TASK "+CancellationPromise`1[System.Int32]", 1, 3),
        OBJECT("System.Threading.SemaphoreSlim+TaskNode", 2), LEAF(TASK "+SetOnInvokeMres") } },
    /* the thread of Main waits for it, as it should */
    { "1 Task.Delay < Shop.Program.Main\n",
      { OBJECT("Shop.Kept", 1), OBJECT(BOX("Shop.Program+<Main>d__0"), 3, 1, 2),
        OBJECT(TASK "+DelayPromise", 1), LEAF(TASK "+SetOnInvokeMres") } },
    /* A ValueTask: the source has an Action<object> and the box; as a task it has one more step,
       without information. */
    { "1 Shop.Signal < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2), OBJECT("Shop.Signal", 3, 1),
        LEAF(ACTION_OBJECT) } },
    { "1 Socket < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2),
        OBJECT(TASKS "ValueTask`1+ValueTaskSourceAsTask[System.Int32]", 1, 3),
        OBJECT("System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs", 0, 4, 2),
        LEAF(ACTION_OBJECT) } },
    { "1 PipeReader < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2),
        OBJECT("System.IO.Pipelines.Pipe+DefaultPipeReader", 3),
        OBJECT("System.IO.Pipelines.Pipe", 4, 1), LEAF(ACTION_OBJECT) } },
    { "1 Task.Delay < Shop.Rpc.Send < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2),
        OBJECT(POOLED("Shop.Rpc+<Send>d__3"), 3, 1, 2, 4), LEAF(ACTION_OBJECT),
        OBJECT(TASK "+DelayPromise", 2) } },
    /* Runtime async: the innermost call, and its callers; between others; for a ValueTask. */
    { "1 TaskCompletionSource < " RT_METHOD " with Shop.Order < " RT_METHOD " with Shop.Cart\n",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2, 3), LEAF(ACTION), OBJECT(RT_WAIT, 4, 6, 1),
        OBJECT(RT_CALL, 5, 7), OBJECT(RT_CALL, 8), OBJECT(TASK, 3), LEAF("Shop.Order"),
        LEAF("Shop.Cart") } },
    { "1 TaskCompletionSource < Shop.Rpc.Send < " RT_METHOD " < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2), OBJECT(RT_TASK, 3, 1), OBJECT(RT_WAIT, 4, 5, 2),
        LEAF(RT_CALL), OBJECT(SEND, 3, 5, 6), OBJECT(TASK, 5) } },
    { "1 Channel reader < " RT_METHOD " with Shop.Order, System.String\n",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2),
        OBJECT(RUNTIME "AsyncHelpers+ValueTaskSourceContinuation", 3, 4), OBJECT(RT_CALL, 5, 6, 5),
        OBJECT("System.Threading.Channels.WaitingReadAsyncOperation", 1), LEAF("System.String"),
        LEAF("Shop.Order") } },
    /* one task waits for another one, which resumes it; equal texts are not one method */
    { "1 TaskCompletionSource < " RT_METHOD " < " RT_METHOD " < " RT_METHOD "\n",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2), OBJECT(RT_WAIT, 3, 4, 1), OBJECT(RT_CALL, 8),
        OBJECT(RT_TASK, 2, 5), OBJECT(RT_WAIT, 6, 7, 4), LEAF(RT_CALL), OBJECT(TASK, 5),
        LEAF(RT_CALL) } },
    /* in a list of continuations */
    { "1 TaskCompletionSource < Shop.Rpc.Send\n1 TaskCompletionSource < " RT_METHOD "\n",
      { OBJECT("Shop.Kept", 1, 5), OBJECT(RT_TASK, 2), OBJECT(RT_WAIT, 3, 4, 1), LEAF(RT_CALL),
        OBJECT(TASK, 6), OBJECT(SEND, 5, 4), OBJECT(LIST, 7), OBJECT(ARRAY, 2, 8),
        OBJECT(ACTION, 5) } },
    /* it has been resumed; it is over; it has been resumed, and waits for a task that is over */
    { "1 (ready to run, or between two elements) < " RT_METHOD "\n",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2), OBJECT(RT_WAIT, 3, 1), LEAF(RT_CALL) } },
    { "",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2, 4), OBJECT(RT_WAIT, 3, 1), LEAF(RT_CALL),
        LEAF(SENTINEL) } },
    { "1 (ready to run, or between two elements) < " RT_METHOD "\n",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2), OBJECT(RT_WAIT, 3, 4, 1), LEAF(RT_CALL),
        OBJECT(TASK, 5), LEAF(SENTINEL) } },
    /* damaged: a call of two tasks, and one that is its own caller */
    { "1 (ready to run, or between two elements)\n1 TaskCompletionSource < " RT_METHOD "\n",
      { OBJECT("Shop.Kept", 1, 2), OBJECT(RT_TASK, 3), OBJECT(RT_TASK, 4), OBJECT(RT_WAIT, 5, 6, 1),
        OBJECT(RT_WAIT, 5, 6, 2), LEAF(RT_CALL), LEAF(TASK) } },
    { "1 (ready to run, or between two elements)\n1 TaskCompletionSource < " RT_METHOD "\n",
      { OBJECT("Shop.Kept", 1), OBJECT(RT_TASK, 2), OBJECT(RT_WAIT, 3, 4, 1), OBJECT(RT_CALL, 3),
        LEAF(TASK) } },
    /* without a task that waits, nothing is known */
    { "", { OBJECT("Shop.Kept", 1), OBJECT(RT_CALL, 2), LEAF(RT_CALL) } },
    /* An async iterator is what the one waits for, and the state machine of the other. */
    { "1 Channel reader < Shop.Feed.Items < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 2, 1, 2), OBJECT(ITEMS_MACHINE, 0, 3, 5, 1, 4),
        OBJECT(ITEMS, 2), OBJECT("System.Threading.Channels.WaitingReadAsyncOperation", 5, 3),
        LEAF(ACTION_OBJECT) } },
    { "1 (ready to run, or between two elements) < Shop.Feed.Items\n",
      { OBJECT("Shop.Kept", 1), OBJECT(ITEMS, 2), OBJECT(ITEMS_MACHINE, 0, 1) } },
    /* Awaiters that are classes; in an object of their own, as with dynamic. */
    { "1 Shop.Bell < Shop.Rpc.Call~\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 3, 2, 1), OBJECT("Shop.Bell", 3),
        OBJECT(ACTION, 1) } },
    { "1 TaskCompletionSource < Shop.Rpc.Call~\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 4, 2, 1), OBJECT(RUNTIME "TaskAwaiter", 3),
        OBJECT(TASK, 4), OBJECT(ACTION, 1) } },
    /* Two that could be it: the last one, probably. */
    { "1 Task.Delay < Shop.Rpc.Call~\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2, 3), OBJECT(TASK, 1),
        OBJECT(TASK "+DelayPromise", 1) } },
    /* Nothing resumes it: it waits in the thread pool, or runs; or it holds a task that is over. */
    { "1 (queued in the thread pool) < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 2), OBJECT(CALL, 1),
        OBJECT("System.Collections.Concurrent.ConcurrentQueueSegment`1+Slot[System.Object][]",
               1) } },
    { "1 (queued in the thread pool) < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1, 2), OBJECT(CALL, 1),
        OBJECT("System.Threading.ThreadPoolWorkQueue+WorkStealingQueue", 3), OBJECT(ARRAY, 4),
        OBJECT(ACTION, 1) } },
    { "1 (ready to run, or between two elements) < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2, 4), OBJECT(TASK, 3), LEAF(SENTINEL),
        LEAF("System.Byte[]") } },
    { "1 TaskCompletionSource < Shop.Rpc.Call~\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2), LEAF(TASK) } },
    /* A task with a delegate. */
    { "1 (a delegate that runs or is queued) < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 2), OBJECT(TASK, 3, 4, 1), LEAF(ACTION),
        LEAF(TASKS "ThreadPoolTaskScheduler") } },
    /* Cycles: of one, of two, and one that another operation waits for. */
    { "1 (a circle: it waits for itself) < Shop.Rpc.Call\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 1, 0, 1, 1) } },
    { "1 (a circle: it waits for itself) < Shop.Rpc.Call < Shop.Rpc.Send\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 2, 1, 2), OBJECT(SEND, 1, 2, 1) } },
    { "1 (a circle: it waits for itself) < Shop.Rpc.Call < Shop.Feed.Items\n1 (a circle: it waits "
      "for itself) < Shop.Rpc.Call < Shop.Rpc.Send\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 4, 1, 2), OBJECT(SEND, 1, 2, 1),
        OBJECT(BOX("Shop.Feed+<Items>d__4"), 3, 1), OBJECT(LIST, 5), OBJECT(ARRAY, 2, 3) } },
    /* One method that calls itself. */
    { "1 Task.Delay < Shop.Rpc.Call* < Shop.Rpc.Send\n",
      { OBJECT("Shop.Kept", 1), OBJECT(CALL, 2, 1, 5), OBJECT(CALL, 3, 2, 1), OBJECT(CALL, 4, 3, 2),
        OBJECT(SEND, 4, 3), OBJECT(TASK "+DelayPromise", 1) } },
    /* What only looks like one: a state machine without an owner here, another box in an iterator,
       a list with a task in it, an antecedent. */
    { "",
      { OBJECT("Shop.Kept", 1), OBJECT(BOX(MACHINE("Call")), 2, 3), LEAF(SENTINEL),
        OBJECT(MACHINE("Call"), 0) } },
    { "1 Channel reader < Shop.Feed.Items < Shop.Rpc.Call\n1 Task.Delay < Shop.Rpc.Send\n",
      { OBJECT("Shop.Kept", 1, 6), OBJECT(CALL, 2, 1, 2), OBJECT(ITEMS_MACHINE, 0, 6, 3, 5, 1, 4),
        OBJECT(ITEMS, 2), OBJECT("System.Threading.Channels.WaitingReadAsyncOperation", 5, 3),
        LEAF(ACTION_OBJECT), OBJECT(SEND, 6, 7), OBJECT(TASK "+DelayPromise", 6) } },
    { "1 Task.Delay < Shop.Rpc.Call\n1 TaskCompletionSource < Task.WhenAll\n",
      { OBJECT("Shop.Kept", 1, 6), OBJECT(CALL, 3, 1, 2), OBJECT(TASK "+DelayPromise", 1),
        OBJECT(LIST, 4), OBJECT(ARRAY, 5, 0), LEAF(TASK "+WhenAllPromise"), OBJECT(TASK, 5) } },
    { "1 Task.Delay < Task.WhenAny\n1 TaskCompletionSource < Task.WhenAll < Task.WhenAny\n",
      { OBJECT("Shop.Kept", 1, 4), OBJECT(TASK "+TwoTaskWhenAnyPromise`1[" TASK "]", 2, 3),
        OBJECT(TASK "+WhenAllPromise", 1), OBJECT(TASK "+DelayPromise", 1), OBJECT(TASK, 2) } },
    /* Nothing that waits. */
    { "",
      { OBJECT("Shop.Kept", 1, 2), OBJECT(CALL, 3), OBJECT(TASK "+WhenAllPromise", 3),
        LEAF(SENTINEL) } },
    { "", { LEAF("Shop.Kept") } },
};

static size_t count_of(const struct sample *s)
{
    size_t n = 0;
    while (n < sizeof s->objects / sizeof *s->objects && s->objects[n].type != NULL)
        n++;
    return n;
}

static struct gcd_async *find(const struct gcd_graph *g, const struct gcd_context *context)
{
    struct gcd_async *a;
    assert_int_equal(gcd_async_new(g, context, &a, &err), GCD_OK);
    return a;
}

static void stacks_of_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (unsigned flags = 0; flags <= ASYNC_BARE; flags++) {
            if (flags == ASYNC_BARE && (strstr(samples[i].want, "TaskAwaiter") != NULL ||
                                        strstr(samples[i].want, "Shop.Poller") != NULL ||
                                        strstr(samples[i].want, "Shop.Main") != NULL))
                continue; /* it takes outer types to know them */
            struct gcd_graph *g = async_graph(samples[i].objects, count_of(&samples[i]), flags);
            struct gcd_async *a = find(g, NULL);
            char *text = async_text(a);
            if (strcmp(text, samples[i].want) != 0)
                print_message("sample %zu, flags %u\n", i, flags);
            assert_string_equal(text, samples[i].want);
            free(text);
            gcd_async_free(a);
            gcd_graph_free(g);
        }
}

/* Bytes, ages and what is over. */
/* N calls that wait for tasks which somebody must complete, or for a delay; threads may block for
 * them. */
static struct gcd_graph *jam(size_t n, bool delay, bool threads)
{
    struct async_object *objects = calloc(3 * n + 1, sizeof *objects);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)(3 * i);
        bool last = i + 1 == n;
        objects[at] = (struct async_object){ "Shop.Kept", last ? 1 : 2, { at + 1, at + 3 } };
        objects[at + 1] = (struct async_object){ CALL, 2, { at + 1, at + 2 } };
        if (threads)
            objects[at + 1] =
                (struct async_object){ CALL, 3, { (uint32_t)(3 * n), at + 1, at + 2 } };
        objects[at + 2] = delay ? (struct async_object){ TASK "+DelayPromise", 1, { at + 1 } }
                                : (struct async_object){ TASK, 0, { 0 } };
    }
    objects[3 * n] = (struct async_object){ TASK "+SetOnInvokeMres", 0, { 0 } };
    struct gcd_graph *g = async_graph(objects, 3 * n + threads, 0);
    free(objects);
    return g;
}

static void where_many_calls_wait(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        bool delay, threads, found;
    } rows[] = { { 9, false, false, false },
                 { 10, false, false, true },
                 { 40, false, true, true },
                 { 40, true, false, false },
                 { 40, true, true, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_graph *g = jam(rows[i].n, rows[i].delay, rows[i].threads);
        struct gcd_async *a = find(g, NULL), *waits;
        struct gcd_origins *o;
        struct gcd_async_jam found, again;
        bool is_found, is_again;
        size_t n;
        assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
        assert_int_equal(gcd_async_find_jam(a, o, NULL, &found, &is_found, &err), GCD_OK);
        assert_int_equal(is_found, rows[i].found);
        if (rows[i].found) {
            const struct gcd_async_frame *frames = gcd_async_frames(a, &n);
            assert_int_equal(found.stacks, rows[i].n);
            assert_string_equal(frames[found.method].name, "Shop.Rpc.Call");
            assert_string_equal(frames[found.waits_for].name,
                                rows[i].delay ? "Task.Delay" : "TaskCompletionSource");
            assert_int_equal(found.threads, rows[i].threads ? rows[i].n : 0);
            char text[GCD_ASYNC_JAM_BYTES];
            gcd_async_jam_text(a, &found, "", text, sizeof text);
            assert_int_equal(strstr(text, " For each of them a thread blocks in Wait or Result: "
                                          "await instead.") != NULL,
                             rows[i].threads);
        }
        assert_int_equal(gcd_async_waits_new(g, NULL, &waits, &err), GCD_OK);
        assert_int_equal(gcd_async_find_jam(waits, o, NULL, &again, &is_again, &err), GCD_OK);
        assert_true(is_again == is_found && again.method == found.method &&
                    again.waits_for == found.waits_for && again.stacks == found.stacks);
        assert_true(gcd_async_totals(a).bytes > 0 && gcd_async_totals(waits).bytes == 0);
        gcd_async_free(waits);
        gcd_origins_free(o);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

/* What a ContinueWith will run does not wait: it has not begun. */
static void many_continuations(void **state)
{
    (void)state;
    struct async_object objects[6 * 12];
    for (uint32_t at = 0; at < 6 * 12; at += 6) {
        const struct async_object one[6] = {
            { "Shop.Kept", at + 6 < 6 * 12 ? 2 : 1, { at + 3, at + 6 } },
            { TASKS "ContinuationTaskFromTask", 2, { at + 4, at + 3 } },
            { TASKS "ContinueWithTaskContinuation", 1, { at + 1 } },
            { TASK, 1, { at + 2 } },
            { "System.Action`1[" TASK "]", 1, { at + 5 } },
            { "Shop.Poller+<>c__DisplayClass3_0", 0, { 0 } },
        };
        memcpy(&objects[at], one, sizeof one);
    }
    struct gcd_graph *g = async_graph(objects, 6 * 12, 0);
    struct gcd_async *a = find(g, NULL);
    struct gcd_origins *o;
    struct gcd_async_jam jam;
    bool found;
    char text[GCD_ASYNC_JAM_BYTES];
    assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
    assert_int_equal(gcd_async_find_jam(a, o, NULL, &jam, &found, &err), GCD_OK);
    assert_true(found);
    gcd_async_jam_text(a, &jam, "", text, sizeof text);
    assert_string_equal(text, "12 continuations wait for TaskCompletionSource: each runs a lambda "
                              "in Shop.Poller when it completes.");
    gcd_origins_free(o);
    gcd_async_free(a);
    gcd_graph_free(g);
}

#define SEMAPHORE "System.Threading.SemaphoreSlim"
#define CALLEE    BOX("Shop.Web+<Fetch>d__4")

/* Calls of Shop.Rpc.Call: FIRST wait for the semaphore of the first gate, SECOND for that of the
 * second one, OTHERS for a delay, the last CALLEES of these in what they call. */
static struct gcd_graph *gates(uint32_t first, uint32_t second, uint32_t others, uint32_t callees,
                               const char *holder)
{
    uint32_t n = first + second + others, at = 5;
    struct async_object *objects = calloc(at + 4 * n, sizeof *objects);
    objects[0] = (struct async_object){ "Shop.Kept", 3, { 1, 2, at } };
    objects[1] = (struct async_object){ holder, 1, { 3 } };
    objects[2] = (struct async_object){ "Shop.Gate", 1, { 4 } };
    objects[3] = (struct async_object){ SEMAPHORE, first > 0, { at + 2 } };
    objects[4] = (struct async_object){ SEMAPHORE, second > 0, { at + 2 + 4 * first } };
    for (uint32_t i = 0; i < n; i++, at += 4) {
        bool ends = i + 1 == first || i + 1 == first + second, delay = i >= first + second;
        objects[at] = (struct async_object){ "Shop.Kept", i + 1 < n ? 2 : 1, { at + 1, at + 4 } };
        uint32_t waits = i + callees < n ? at + 1 : at + 3;
        objects[at + 1] =
            (struct async_object){ CALL, 2, { at + 1, waits == at + 1 ? at + 2 : waits } };
        objects[at + 2] =
            delay
                ? (struct async_object){ TASK "+DelayPromise", 1, { waits } }
                : (struct async_object){ SEMAPHORE "+TaskNode", ends ? 1 : 2, { at + 1, at + 6 } };
        objects[at + 3] = (struct async_object){ "Shop.Kept", 0, { 0 } };
        if (waits == at + 3)
            objects[at + 3] = (struct async_object){ CALLEE, 3, { at + 3, at + 2, at + 1 } };
    }
    struct gcd_graph *g = async_graph(objects, at, 0);
    free(objects);
    return g;
}

/* Nearly all wait for one semaphore, which is told by who has it; and who could release it. */
static void which_semaphore(void **state)
{
    (void)state;
#define TEXT " calls wait in Shop.Rpc.Call for "
#define WHAT "SemaphoreSlim.WaitAsync"
#define NOBODY                                                                          \
    " No other call of these methods is under way that could release it: an exception " \
    "may have skipped a Release, which belongs into a finally."
#define UNKNOWN                                                                                 \
    " No other call of these methods is under way that could release one: calls that wait may " \
    "hold one and wait for another that was taken in a different order, or an exception may "   \
    "have skipped a Release."
    static const struct {
        uint32_t first, second, others, callees;
        const char *holder, *want;
    } rows[] = {
        { 12, 0, 0, 0, "Shop.Gate", "12" TEXT WHAT " of Shop.Gate." NOBODY },
        { 18, 2, 0, 0, "Shop.Hall", "20" TEXT WHAT " of Shop.Hall." UNKNOWN },
        { 2, 18, 0, 0, "Shop.Hall", "20" TEXT WHAT " of Shop.Gate." UNKNOWN },
        { 17, 3, 0, 0, "Shop.Gate", "20" TEXT WHAT " of 2 semaphores, Shop.Gate." UNKNOWN },
        { 17, 3, 0, 0, "Shop.Hall", "20" TEXT WHAT " of 2 semaphores." UNKNOWN }, /* each has one */
        { 12, 0, 0, 0, "System.Gate", "12" TEXT WHAT "." NOBODY },
        { 12, 0, 0, 0, "Shop.Pool<System.Int32>",
          "12" TEXT WHAT " of Shop.Pool<System.Int32>." NOBODY },
        { 12, 0, 0, 0, "Shop.Hall+<>c__DisplayClass0_0", "12" TEXT WHAT "." NOBODY },
        { 12, 0, 0, 0, CALL, "12" TEXT WHAT "." NOBODY },
        { 12, 0, 1, 0, "Shop.Gate",
          "12" TEXT WHAT " of Shop.Gate. 1 other call of these methods may have to release it; it "
          "waits for Task.Delay." },
        { 12, 0, 3, 0, "Shop.Gate",
          "12" TEXT WHAT " of Shop.Gate. 3 other calls of these methods may have to release it; "
          "they wait for Task.Delay." },
        { 12, 0, 3, 2, "Shop.Gate",
          "12" TEXT WHAT " of Shop.Gate. 3 other calls of these methods may have to release it; "
          "they wait for Task.Delay in Shop.Web.Fetch." },
        { 12, 0, 4, 2, "Shop.Gate",
          "12" TEXT WHAT " of Shop.Gate. 4 other calls of these methods may have to release it; "
          "they wait for Task.Delay." },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_graph *g =
            gates(rows[i].first, rows[i].second, rows[i].others, rows[i].callees, rows[i].holder);
        struct gcd_async *a = find(g, NULL);
        struct gcd_origins *o;
        struct gcd_async_jam jam;
        bool found;
        char place[GCD_ASYNC_PLACE_BYTES], text[GCD_ASYNC_JAM_BYTES];
        assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
        assert_int_equal(gcd_async_find_jam(a, o, NULL, &jam, &found, &err), GCD_OK);
        assert_true(found);
        assert_int_equal(jam.others, rows[i].others);
        struct gcd_async_jam_of of = { .graph = g, .origins = o };
        assert_int_equal(gcd_async_jam_place(a, &jam, &of, place, sizeof place, &err), GCD_OK);
        gcd_async_jam_text(a, &jam, place, text, sizeof text);
        assert_string_equal(text, rows[i].want);
        gcd_origins_free(o);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

/* Two calls that have two semaphores each, in a debug build or not, and wait for one of them; with
 * ten others.  The second semaphore may be one that nobody waits for. */
static void calls_that_cross(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        bool debug = (i & 1) != 0, waited_for = (i & 2) != 0, of_caller = (i & 4) != 0;
        uint32_t at = 5;
        struct async_object objects[5 + 5 * 12 + 1] = {
            { "Shop.Kept", 2, { 1, at } }, { "Shop.Gate", 3, { 2, 3, 4 } }, { SEMAPHORE, 1, { 0 } },
            { SEMAPHORE, 1, { 0 } },       { SEMAPHORE, 0, { 0 } },
        };
        for (uint32_t k = 0; k < 12; k++, at += 5) {
            bool crosses = k < 2;
            uint32_t gate = k % 2, next = at + 10, box = of_caller ? at + 2 : at + 1,
                     with = debug ? at + 4 : box;
            if (k < 2)
                objects[2 + k].refs[0] = at + 3;
            objects[at] = (struct async_object){ "Shop.Kept", k < 11 ? 2 : 1, { at + 1, at + 5 } };
            objects[at + 1] = (struct async_object){ CALL, 2, { at + 1, at + 3 } };
            objects[at + 2] = (struct async_object){ CALL, 1, { at + 2 } };
            objects[at + 3] = (struct async_object){ SEMAPHORE "+TaskNode", 1, { at + 1 } };
            objects[at + 4] = (struct async_object){ "Shop.Rpc+<Call>d__1", 0, { 0 } };
            if (k + 2 < 12)
                objects[at + 3].refs[objects[at + 3].count++] = next + 3;
            if (of_caller)
                objects[at + 1].refs[objects[at + 1].count++] = at + 2;
            if (debug)
                objects[box].refs[objects[box].count++] = at + 4;
            if (crosses) {
                objects[with].refs[objects[with].count++] = waited_for ? 3 - gate : 4;
                objects[with].refs[objects[with].count++] = 2 + gate;
            }
        }
        struct gcd_graph *g = async_graph(objects, at, 0);
        struct gcd_async *a = find(g, NULL);
        struct gcd_origins *o;
        struct gcd_async_jam jam;
        bool found;
        char place[GCD_ASYNC_PLACE_BYTES], text[GCD_ASYNC_JAM_BYTES];
        assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
        assert_int_equal(gcd_async_find_jam(a, o, NULL, &jam, &found, &err), GCD_OK);
        assert_true(found);
        struct gcd_async_jam_of of = { .graph = g, .origins = o };
        assert_int_equal(gcd_async_jam_place(a, &jam, &of, place, sizeof place, &err), GCD_OK);
        gcd_async_jam_text(a, &jam, place, text, sizeof text);
        if (jam.gates != 2 || jam.crossing != (waited_for ? 2 : 0) ||
            (strstr(text, " 2 of them have a second semaphore that calls wait for, and may hold "
                          "it") != NULL) != waited_for)
            fail_msg("%u: %d %d %s", i, (int)jam.gates, (int)jam.crossing, text);
        gcd_origins_free(o);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

/* Two calls that are in a later step than others of their method: where they wait, what they may
 * hold.  The calls before FIRST wait for one semaphore, others for a second one. */
struct steps {
    const struct gcd_graph *g;
    bool known;
    uint32_t later[2]; /* calls */
};

static uint32_t step_in(void *steps, uint64_t address)
{
    const struct steps *s = steps;
    uint32_t node = gcd_graph_find(s->g, address);
    if (!s->known || node < 5)
        return GCD_STEP_UNKNOWN;
    return node == 6 + 4 * s->later[0] || node == 6 + 4 * s->later[1] ? 3 : 1;
}

static void calls_in_a_later_step(void **state)
{
    (void)state;
#define NO_CALL 1000u
    static const struct {
        uint32_t first, second, others;
        struct steps steps;
        uint64_t later, again;
        const char *want;
    } rows[] = {
        /* each waits for what the other may hold */
        { 10,
          10,
          0,
          { NULL, true, { 3, 13 } },
          2,
          0,
          "2 of them wait in a later step than the others and for another semaphore: they may hold "
          "the one that the others wait for." },
        { 10, 10, 5, { NULL, true, { 3, 13 } }, 2, 0, " 2 of them wait in a later step " },
        { 10, 10, 5, { NULL, true, { 3, 4 } }, 2, 0, " 5 other calls of these methods " },
        { 19,
          1,
          0,
          { NULL, true, { NO_CALL, 19 } },
          1,
          0,
          " 1 of them waits in a later step than the others and for another semaphore: it may "
          "hold" },
        /* it waits for what it may hold */
        { 20,
          0,
          0,
          { NULL, true, { NO_CALL, 7 } },
          0,
          1,
          " 1 of them waits for it in a later step than the others, and may hold it already" },
        { 19, 1, 0, { NULL, true, { NO_CALL, 7 } }, 1, 0, " and for another semaphore" },
        { 10, 10, 0, { NULL, true, { NO_CALL, NO_CALL } }, 0, 0, NOBODY },
        { 20, 0, 0, { NULL, false, { NO_CALL, NO_CALL } }, 0, 0, NOBODY },
        { 10, 10, 0, { NULL, false, { 3, 13 } }, 0, 0, UNKNOWN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_graph *g = gates(rows[i].first, rows[i].second, rows[i].others, 0, "Shop.Gate");
        struct steps steps = rows[i].steps;
        struct gcd_async *a = find(g, NULL);
        struct gcd_origins *o;
        struct gcd_async_jam jam;
        bool found;
        char place[GCD_ASYNC_PLACE_BYTES], text[GCD_ASYNC_JAM_BYTES];
        steps.g = g;
        assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
        assert_int_equal(gcd_async_find_jam(a, o, NULL, &jam, &found, &err), GCD_OK);
        assert_true(found);
        struct gcd_async_jam_of of = { .graph = g, .origins = o, .step = step_in, .steps = &steps };
        assert_int_equal(gcd_async_jam_place(a, &jam, &of, place, sizeof place, &err), GCD_OK);
        gcd_async_jam_text(a, &jam, place, text, sizeof text);
        if (jam.later != rows[i].later || jam.again != rows[i].again ||
            jam.steps_known != steps.known || strstr(text, rows[i].want) == NULL)
            fail_msg("%zu: %d %d %s", i, (int)jam.later, (int)jam.again, text);
        bool two = strstr(text, " for " WHAT " of 2 semaphores, Shop.Gate.") != NULL;
        assert_int_equal(two, jam.semaphores == 2);
        gcd_origins_free(o);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

#define LOCKS        "System.Collections.Concurrent.ConcurrentDictionary`2"
#define LOCKS_OF     "[System.String,System.Threading.SemaphoreSlim]"
#define KEYS         5u /* semaphores in a dictionary */
#define WAIT_FOR_ONE 4u

/* What HOLDER has is a dictionary with a semaphore for each key, and calls wait for all of them;
 * OTHER has the dictionary, too, unless it is NULL.  Those of the first ELSEWHERE keys are of
 * another method. */
static struct gcd_graph *gates_of_keys(const char *holder, const char *other, uint32_t elsewhere)
{
    enum { KEPT, HOLDER, OTHER, TABLE, TABLES, NODES, FIRST };
    uint32_t calls = FIRST + 2 * KEYS;
    struct async_object objects[FIRST + 2 * KEYS + 3 * KEYS * WAIT_FOR_ONE] = {
        [KEPT] = { "Shop.Kept", 3, { HOLDER, OTHER, calls } },
        [HOLDER] = { holder, 1, { TABLE } },
        [OTHER] = { other != NULL ? other : "Shop.Other", other != NULL, { TABLE } },
        [TABLE] = { LOCKS LOCKS_OF, 1, { TABLES } },
        [TABLES] = { LOCKS "+Tables" LOCKS_OF, 1, { NODES } },
        [NODES] = { LOCKS "+VolatileNode" LOCKS_OF "[]", 1, { FIRST } },
    };
    for (uint32_t i = 0, at = calls; i < KEYS; i++) { /* all in one bucket */
        uint32_t entry = FIRST + 2 * i;
        objects[entry] = (struct async_object){ LOCKS "+Node" LOCKS_OF,
                                                i + 1 < KEYS ? 2 : 1,
                                                { entry + 1, entry + 2 } };
        objects[entry + 1] = (struct async_object){ SEMAPHORE, 1, { at + 2 } };
        for (uint32_t k = 0; k < WAIT_FOR_ONE; k++, at += 3) {
            bool last = i + 1 == KEYS && k + 1 == WAIT_FOR_ONE;
            objects[at] = (struct async_object){ "Shop.Kept", last ? 1 : 2, { at + 1, at + 3 } };
            objects[at + 1] =
                (struct async_object){ i < elsewhere ? SEND : CALL, 2, { at + 1, at + 2 } };
            objects[at + 2] = (struct async_object){ SEMAPHORE "+TaskNode",
                                                     k + 1 < WAIT_FOR_ONE ? 2 : 1,
                                                     { at + 1, at + 5 } };
        }
    }
    return async_graph(objects, sizeof objects / sizeof *objects, 0);
}

/* The semaphores in a collection are told by who has that, if one has. */
static void semaphores_of_keys(void **state)
{
    (void)state;
    static const struct {
        const char *holder, *other, *want;
        uint32_t elsewhere;
    } rows[] = {
        { "Shop.Registry", NULL, "Shop.Registry", 0 },
        { "Shop.Registry", NULL, "", 2 },
        { "Shop.Registry", "Shop.Registry", "Shop.Registry", 0 },
        { "Shop.Registry", "Shop.Clerk", "", 0 },
        { "System.Registry", NULL, "", 0 },
        { "System.Registry", "Shop.Clerk", "Shop.Clerk", 0 },
        { "Shop.Registry", CALL, "Shop.Registry", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_graph *g = gates_of_keys(rows[i].holder, rows[i].other, rows[i].elsewhere);
        struct gcd_async *a = find(g, NULL);
        struct gcd_origins *o;
        struct gcd_async_jam jam;
        bool found;
        char place[GCD_ASYNC_PLACE_BYTES];
        assert_int_equal(gcd_origins_new(gcd_graph_summary(g), NULL, &o, &err), GCD_OK);
        assert_int_equal(gcd_async_find_jam(a, o, NULL, &jam, &found, &err), GCD_OK);
        assert_true(found);
        assert_int_equal(jam.stacks, (KEYS - rows[i].elsewhere) * WAIT_FOR_ONE);
        struct gcd_async_jam_of of = { .graph = g, .origins = o };
        assert_int_equal(gcd_async_jam_place(a, &jam, &of, place, sizeof place, &err), GCD_OK);
        assert_string_equal(place, rows[i].want);
        gcd_origins_free(o);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

/* A loop that waits again and again is old, but what it waits for is new each time. */
static void since_when_it_waits(void **state)
{
    static const struct async_object objects[] = {
        OBJECT("Shop.Kept", 1, 4),
        OBJECT(CALL, 1, 2), /* awaits 2 */
        OBJECT(TASK "+WhenAllPromise", 1),
        LEAF("Shop.Unused"),
        OBJECT("Shop.Kept", 5, 6),
        OBJECT(TASK, 2), /* these wake the promise */
        OBJECT(TASK, 2),
    };
    static const uint64_t old[] = { 2, 0, 0, 2, 2, 1, 1 }; /* of two stacks, without object I */
    (void)state;
    for (unsigned young = 0; young < 7; young++) {
        struct gcd_graph *g = async_graph(objects, 7, ASYNC_YOUNG(young)); /* 0: none */
        struct gcd_async *a = find(g, NULL);
        assert_int_equal(gcd_async_totals(a).stacks, 2);
        assert_int_equal(gcd_async_totals(a).old_stacks, old[young]);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

static void totals(void **state)
{
    static const struct async_object objects[] = {
        OBJECT("Shop.Kept", 1, 3, 7, 8),
        OBJECT(CALL, 0, 1, 2, 5),
        OBJECT(SEND, 1, 6, 2, 3),
        OBJECT(TASK, 2),
        LEAF("Shop.Unused"),
        LEAF("System.Byte[]"),
        OBJECT("Shop.Request", 5, 0),
        OBJECT(CALL, 9),
        OBJECT(CALL, 9),
        LEAF(SENTINEL),
        LEAF(RT_TASK), /* not understood */
        OBJECT(RUNTIME "AsyncHelpers+RuntimeAsyncAwaitState",
               12), /* of a thread that runs no call */
        LEAF(RT_CALL),
        OBJECT(RT_TASK, 9), /* over */
    };
    (void)state;
    for (unsigned flags = 0; flags <= ASYNC_RANGES; flags += ASYNC_RANGES) {
        struct gcd_graph *g = async_graph(objects, sizeof objects / sizeof *objects, flags);
        struct gcd_async *a = find(g, NULL);
        struct gcd_async_totals t = gcd_async_totals(a);
        size_t n;
        const struct gcd_async_completed *c = gcd_async_completed(a, &n);
        assert_int_equal(t.operations, 2);
        assert_int_equal(t.stacks, 1);
        /* two boxes, the request, the array that both hold */
        assert_int_equal(t.bytes, 400);
        assert_int_equal(t.probable_stacks, 0);
        assert_int_equal(t.ages_known, flags == ASYNC_RANGES);
        assert_int_equal(t.old_stacks, flags == ASYNC_RANGES ? 1 : 0);
        assert_int_equal(t.runtime_async, 1);
        assert_int_equal(t.runtime_calls, 0);
        assert_int_equal(t.completed, 2);
        assert_int_equal(t.completed_bytes, 200);
        assert_int_equal(n, 1);
        assert_string_equal(c[0].name, "Shop.Rpc.Call");
        assert_int_equal(c[0].objects, 2);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

/* ---- hostile ---- */

#define MANY 1000000u

/* MANY objects of TYPES, each with the references that REFS gives it. */
static struct gcd_graph *many(const char *const *types, size_t type_count, uint32_t n,
                              const char *(*type)(uint32_t i),
                              size_t (*refs)(uint32_t i, uint32_t *ret))
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t number;
    static uint32_t to[MANY + 16];
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (size_t i = 0; i < type_count; i++) {
        struct gcd_type t = { .id = 8 * i + 8,
                              .name = types[i],
                              .raw_name = types[i],
                              .module_path = "",
                              .element_type = 0x12,
                              .module_number = GCD_MODULE_NONE,
                              .described = true,
                              .named = true };
        assert_int_equal(gcd_build_type(b, &t, &number, &err), GCD_OK);
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t k = 0;
        while (strcmp(types[k], type(i)) != 0)
            k++;
        assert_int_equal(gcd_build_node(b, 0x1000 + 32 * (uint64_t)i, (uint32_t)k, 24, &err),
                         GCD_OK);
    }
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, to, refs(i, to), &err), GCD_OK);
    }
    struct gcd_root root = { .kind = GCD_ROOT_HANDLE, .node = 0, .name = "" };
    assert_int_equal(gcd_build_root(b, &root, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void expect(struct gcd_graph *g, const char *want)
{
    struct gcd_async *a = find(g, NULL);
    char *text = async_text(a);
    assert_string_equal(text, want);
    free(text);
    gcd_async_free(a);
    gcd_graph_free(g);
}

static const char *const listed[] = { TASK, LIST, ARRAY, SEND };

static const char *listed_type(uint32_t i)
{
    return listed[i < 3 ? i : 3];
}

static size_t listed_refs(uint32_t i, uint32_t *ret)
{
    size_t n = 0;
    if (i < 2)
        ret[n++] = i + 1;
    for (uint32_t k = 3; i == 2 && k < MANY; k++)
        ret[n++] = k;
    if (i > 2) {
        ret[n++] = i;
        ret[n++] = 0;
    }
    return n;
}

static void a_million_in_one_list(void **state)
{
    (void)state;
    expect(many(listed, 4, MANY, listed_type, listed_refs),
           "999997 TaskCompletionSource < Shop.Rpc.Send\n");
}

static const char *const alternating[] = { TASK, CALL, SEND };

static const char *alternating_type(uint32_t i)
{
    return alternating[i == 0 ? 0 : 1 + i % 2];
}

static const char *same_type(uint32_t i)
{
    return alternating[i > 0];
}

/* Each box waits for the object before it. */
static size_t chain_refs(uint32_t i, uint32_t *ret)
{
    size_t n = 0;
    if (i + 1 < MANY)
        ret[n++] = i + 1;
    if (i > 0) {
        ret[n++] = i;
        ret[n++] = i - 1;
    }
    return n;
}

static void chains_of_a_million(void **state)
{
    size_t n, count;
    (void)state;
    expect(many(alternating, 3, MANY, same_type, chain_refs),
           "1 TaskCompletionSource < Shop.Rpc.Call*\n");
    struct gcd_graph *g = many(alternating, 3, MANY, alternating_type, chain_refs);
    struct gcd_async *a = find(g, NULL);
    const struct gcd_async_frame *frames = gcd_async_frames(a, &count);
    const uint32_t *stacks = gcd_async_stacks(a, &n);
    assert_int_equal(count, 256);
    assert_int_equal(n, 1);
    assert_int_equal(frames[stacks[0]].depth, 255);
    assert_true(frames[stacks[0]].cut);
    assert_int_equal(gcd_async_totals(a).operations, MANY - 1);
    assert_int_equal(gcd_async_totals(a).bytes, 24 * (MANY - 1));
    gcd_async_free(a);
    gcd_graph_free(g);
}

/* A circle of a million. */
static size_t circle_refs(uint32_t i, uint32_t *ret)
{
    ret[0] = i > 0 ? i % (MANY - 1) + 1 : 1;
    ret[1] = i;
    ret[2] = i > 1 ? i - 1 : MANY - 1;
    return i > 0 ? 3 : 1;
}

static void a_circle_of_a_million(void **state)
{
    (void)state;
    expect(many(alternating, 3, MANY, same_type, circle_refs),
           "1 (a circle: it waits for itself) < Shop.Rpc.Call*\n");
}

/* WhenAll of two that wait for the WhenAll below: 2 to the power of the levels paths. */
#define LEVELS 70u
static const char *const levels[] = { TASK, TASK "+WhenAllPromise", CALL, LIST, ARRAY };

static const char *level_type(uint32_t i)
{
    static const uint8_t kind[] = { 1, 3, 4, 2, 2 };
    return levels[i < 3 ? (i == 0 ? 0 : i + 2) : kind[(i - 3) % 5]];
}

/* Level L: WhenAll at 5 * L + 3, then its list and array, then the two boxes that wait for it and
 * belong to the next one. */
static size_t level_refs(uint32_t i, uint32_t *ret)
{
    uint32_t l = (i - 3) / 5, at = 5 * l + 3;
    if (i < 3) {
        ret[0] = i == 0 ? 1 : i == 1 ? 2 : 3;
        return 1;
    }
    switch ((i - 3) % 5) {
    case 0:
        ret[0] = at + 1;
        return l < LEVELS ? 1 : 0;
    case 1:
        ret[0] = at + 2;
        return 1;
    case 2:
        ret[0] = at + 3;
        ret[1] = at + 4;
        return 2;
    default:
        ret[0] = at + 5;
        ret[1] = i;
        ret[2] = at;
        return 3;
    }
}

static void ways_without_number(void **state)
{
    (void)state;
    struct gcd_graph *g = many(levels, 5, 3 + 5 * LEVELS + 1, level_type, level_refs);
    struct gcd_async *a = find(g, NULL);
    assert_int_equal(gcd_async_totals(a).operations, 3 * LEVELS + 1);
    assert_int_equal(gcd_async_totals(a).stacks, UINT64_MAX);
    gcd_async_free(a);
    gcd_graph_free(g);
}

/* ---- random ---- */

static const char *const all_types[] = {
    CALL,
    SEND,
    ITEMS,
    ITEMS_MACHINE,
    POOLED("Shop.Rpc+<Send>d__3"),
    TASK,
    TASKS "Task`1[System.Int32]",
    CONTEXT,
    ACTION,
    ACTION_OBJECT,
    LIST,
    ARRAY,
    SENTINEL,
    TASK "+WhenAllPromise",
    TASK "+TwoTaskWhenAnyPromise`1[" TASK "]",
    TASKS "UnwrapPromise`1[System.Int32]",
    TASKS "ContinuationTaskFromTask",
    TASKS "ContinueWithTaskContinuation",
    TASK "+CancellationPromise`1[System.Int32]",
    TASKS "ValueTask`1+ValueTaskSourceAsTask[System.Int32]",
    TASK "+SetOnInvokeMres",
    TASK "+DelayPromise",
    TASK "[]",
    TASKS "SynchronizationContextAwaitTaskContinuation",
    "System.Threading.ThreadPoolWorkQueue+WorkStealingQueue",
    "Shop.Any",
    RT_CALL,
    RT_CALL,
    RT_WAIT,
    RT_WAIT,
    RT_TASK,
    RT_TASK,
    RUNTIME "AsyncHelpers+ValueTaskSourceContinuation",
    RUNTIME "AsyncHelpers+RuntimeAsyncAwaitState",
};
#define ALL_TYPES (sizeof all_types / sizeof *all_types)

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static struct gcd_graph *random_graph(uint64_t seed, size_t *ret_n)
{
    struct async_object objects[48];
    size_t n = 1 + next_random(&seed) % 47;
    for (size_t i = 0; i < n; i++) {
        uint32_t boxes = next_random(&seed) % 3;
        objects[i] = (struct async_object){
            .type = all_types[boxes == 0 ? next_random(&seed) % 3 : next_random(&seed) % ALL_TYPES]
        };
        objects[i].count = next_random(&seed) % 7;
        for (uint32_t k = 0; k < objects[i].count; k++)
            objects[i].refs[k] =
                next_random(&seed) % 4 == 0 ? (uint32_t)i : next_random(&seed) % (uint32_t)n;
    }
    *ret_n = n;
    return async_graph(objects, n, (unsigned)seed % 4);
}

/* Frames hold together; no object counts twice; every stack has a beginning. */
static void check(const struct gcd_graph *g, const struct gcd_async *a, size_t objects)
{
    size_t n, count;
    const struct gcd_async_frame *frames = gcd_async_frames(a, &count);
    const uint32_t *stacks = gcd_async_stacks(a, &n);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gcd_async_frame *f = &frames[i];
        bool first = f->parent == GCD_FRAME_NONE;
        assert_true(first ? f->depth == 0
                          : f->parent < i && f->depth == frames[f->parent].depth + 1);
        assert_true(first ? f->kind >= GCD_ASYNC_DELAY
                          : f->kind < GCD_ASYNC_DELAY || f->kind == GCD_ASYNC_METHOD ||
                                f->kind == GCD_ASYNC_OTHER);
        assert_true(f->old_stacks <= f->stacks);
        sum += f->stacks;
    }
    for (size_t i = 0; i < n; i++)
        assert_true(frames[stacks[i]].stacks > 0 &&
                    (i == 0 || frames[stacks[i]].stacks <= frames[stacks[i - 1]].stacks));
    struct gcd_async_totals t = gcd_async_totals(a);
    assert_int_equal(t.stacks, sum);
    assert_true(t.operations <= objects && (t.operations == 0) == (sum == 0));
    assert_true(t.bytes <= 100 * objects && t.bytes >= 100 * t.operations);
    (void)g;
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES(20000); seed++) {
        size_t n;
        struct gcd_graph *g = random_graph(seed, &n);
        struct gcd_async *a = find(g, NULL);
        check(g, a, n);
        gcd_async_free(a);
        gcd_graph_free(g);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_async *a = NULL;
        size_t n;
        struct gcd_graph *g = random_graph(77, &n);
        failalloc_init(&f);
        f.fail_at = at;
        struct gcd_context context = { .alloc = &f.alloc };
        gcd_status st = gcd_async_new(g, &context, &a, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        gcd_async_free(a);
        assert_null(failalloc_complaint(&f));
        gcd_graph_free(g);
        if (f.failed == 0)
            break;
    }
}

static void canceled(void **state)
{
    gcd_cancel_flag cancel;
    struct gcd_async *a = NULL;
    (void)state;
    atomic_init(&cancel, true);
    struct gcd_graph *g = async_graph(samples[0].objects, count_of(&samples[0]), 0);
    assert_int_equal(gcd_async_new(g, &(struct gcd_context){ .cancel = &cancel }, &a, &err),
                     GCD_E_CANCELED);
    assert_null(a);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_methods),
        cmocka_unit_test(names_of_made_types),
        cmocka_unit_test(blocks_of_lambdas),
        cmocka_unit_test(methods_of_lambdas),
        cmocka_unit_test(methods_of_calls),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(stacks_of_samples),
        cmocka_unit_test(where_many_calls_wait),
        cmocka_unit_test(which_semaphore),
        cmocka_unit_test(many_continuations),
        cmocka_unit_test(calls_that_cross),
        cmocka_unit_test(calls_in_a_later_step),
        cmocka_unit_test(semaphores_of_keys),
        cmocka_unit_test(since_when_it_waits),
        cmocka_unit_test(totals),
        cmocka_unit_test(a_million_in_one_list),
        cmocka_unit_test(chains_of_a_million),
        cmocka_unit_test(a_circle_of_a_million),
        cmocka_unit_test(ways_without_number),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
