// SPDX-License-Identifier: Apache-2.0
// server.c in C++17: the same server, marked with mxprof.hpp. Spans end with their block,
// asynchronous ones with their owner, and their arguments are not evaluated while nothing records.
#include <mxprof/mxprof.hpp>
#include <mxprof/profiler.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace
{

constexpr unsigned workers_max = 3, limit_max = 100000000;
constexpr std::size_t request_bytes_max = 1023, cached_max = 256;

// A descriptor that is closed with its owner.
class descriptor
{
  public:
    explicit descriptor(int number = -1) noexcept : number_(number)
    {
    }
    ~descriptor()
    {
        if (number_ >= 0) {
            close(number_);
        }
    }
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;
    int get() const noexcept
    {
        return number_;
    }

  private:
    int number_;
};

// A connection, which brings one request.
struct request {
    request(uint64_t its_number, int its_socket) : number(its_number), socket(its_socket)
    {
    }
    uint64_t number;
    descriptor socket;
    mxp::async_span life{MXP_ASYNC_NAME("server", "request"), number}, waiting;
    std::string text, path, reply;
};
using owned_request = std::unique_ptr<request>;

// Requests that wait.
class request_list
{
  public:
    void put(owned_request one)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        requests_.push_back(std::move(one));
        changed_.notify_one();
    }
    // Null: there is none.
    owned_request take()
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return take_locked();
    }
    // Null: the list is closed and empty.
    owned_request wait()
    {
        std::unique_lock<std::mutex> guard(lock_);
        changed_.wait(guard, [this] { return closed_ || !requests_.empty(); });
        return take_locked();
    }
    void close()
    {
        const std::lock_guard<std::mutex> guard(lock_);
        closed_ = true;
        changed_.notify_all();
    }

  private:
    owned_request take_locked()
    {
        owned_request one;
        if (!requests_.empty()) {
            one = std::move(requests_.front());
            requests_.pop_front();
        }
        return one;
    }
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<owned_request> requests_;
    bool closed_ = false;
};

// ---- what is asked for -------------------------------------------------------------------------
class prime_cache
{
  public:
    std::optional<uint32_t> look_up(uint32_t limit)
    {
        MXP_SPAN("server", "look up");
        const std::lock_guard<std::mutex> guard(lock_);
        const auto found = known_.find(limit);
        return found == known_.end() ? std::nullopt : std::optional<uint32_t>(found->second);
    }
    void remember(uint32_t limit, uint32_t primes)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        if (known_.size() < cached_max) {
            known_[limit] = primes;
        }
    }

  private:
    std::mutex lock_;
    std::map<uint32_t, uint32_t> known_;
};

// Eratosthenes' sieve. Throws std::bad_alloc.
uint32_t count_primes(uint32_t limit)
{
    MXP_SPAN("server", "count primes");
    std::vector<unsigned char> composite(limit);
    uint32_t primes = 0;
    for (uint64_t i = 2; i < limit; i++) {
        if (composite[i] == 0) {
            primes++;
            for (uint64_t multiple = i * i; multiple < limit; multiple += i) {
                composite[multiple] = 1;
            }
        }
    }
    return primes;
}

std::string message(std::string_view status, std::string_view body)
{
    return "HTTP/1.0 " + std::string(status) + "\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// N of /primes/N.
std::optional<uint32_t> limit_of(std::string_view path)
{
    constexpr std::string_view prefix = "/primes/";
    uint32_t limit = 0;
    if (path.substr(0, prefix.size()) != prefix) {
        return std::nullopt;
    }
    const auto [end, error] =
        std::from_chars(path.data() + prefix.size(), path.data() + path.size(), limit);
    const bool is_whole = error == std::errc() && end == path.data() + path.size();
    return is_whole && limit <= limit_max ? std::optional<uint32_t>(limit) : std::nullopt;
}

std::string answer(prime_cache &cache, std::string_view path)
try {
    const std::optional<uint32_t> limit = limit_of(path);
    if (!limit) {
        return message("404 Not Found", "ask for /primes/N, N at most 100000000\n");
    }
    std::optional<uint32_t> primes = cache.look_up(*limit);
    if (!primes) {
        primes = count_primes(*limit);
        cache.remember(*limit, *primes);
    }
    return message("200 OK", std::to_string(*primes) + "\n");
} catch (const std::bad_alloc &) {
    return message("503 Service Unavailable", "no memory\n");
}

// ---- connections --------------------------------------------------------------------------------
volatile sig_atomic_t ending;
int wake_number;

extern "C" void on_end(int)
{
    ending = 1;
    eventfd_write(wake_number, 1);
}

class server
{
  public:
    // The port that was taken; 0: it cannot be had.
    unsigned listen_at(int port);
    void run();

  private:
    void watch(int number, void *about);
    void accept_one();
    void read_from(request *one);
    void reply(owned_request one);
    void work(unsigned number);
    void serve();

    descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
    descriptor wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    descriptor listener_{socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    std::map<request *, owned_request> reading_;
    request_list asked_, answered_;
    prime_cache cache_;
    uint64_t numbers_ = 0;
};

unsigned server::listen_at(int port)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    const int yes = 1;
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto *const general = reinterpret_cast<sockaddr *>(&address);
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener_.get(), general, size) != 0 || listen(listener_.get(), 128) != 0 ||
        getsockname(listener_.get(), general, &size) != 0) {
        return 0;
    }
    return ntohs(address.sin_port);
}

void server::watch(int number, void *about)
{
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = about;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, number, &event);
}

void server::accept_one()
{
    const int number = accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (number >= 0) {
        auto one = std::make_unique<request>(++numbers_, number);
        watch(number, one.get());
        reading_[one.get()] = std::move(one);
    }
}

// Takes what has come. The request goes to the workers when its head is complete.
void server::read_from(request *one)
{
    std::array<char, request_bytes_max> buffer;
    const ssize_t got = read(one->socket.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    one->text.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    if (got > 0 && one->text.find("\r\n\r\n") == std::string::npos &&
        one->text.size() < request_bytes_max) {
        return;
    }
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one->socket.get(), nullptr);
    owned_request complete = std::move(reading_[one]);
    reading_.erase(one);
    if (got <= 0) {
        complete->life.end(MXP_ARG("request", complete->number));
        return;
    }
    {
        MXP_SPAN_AS(parse, "server", "parse", MXP_ARG("request", one->number));
        if (one->text.rfind("GET ", 0) == 0) {
            one->path = one->text.substr(4, one->text.find_first_of(" \r\n", 4) - 4);
        }
        parse.add(MXP_ARG("path", one->path));
    }
    one->waiting = mxp::async_span(MXP_ASYNC_NAME("server", "in queue"), one->number);
    asked_.put(std::move(complete));
}

void server::work(unsigned number)
{
    mxp_thread_name(("worker " + std::to_string(number)).c_str());
    while (owned_request one = asked_.wait()) {
        one->waiting.end(MXP_ARG("request", one->number));
        {
            MXP_SPAN("server", "handle", MXP_ARG("request", one->number),
                     MXP_ARG("path", one->path));
            one->reply = answer(cache_, one->path);
        }
        answered_.put(std::move(one));
        eventfd_write(wake_.get(), 1);
    }
}

void server::reply(owned_request one)
{
    {
        MXP_SPAN("server", "reply", MXP_ARG("request", one->number),
                 MXP_ARG("bytes", one->reply.size()));
        // Some hundred bytes, for which a new connection has room.
        (void)!send(one->socket.get(), one->reply.data(), one->reply.size(), MSG_NOSIGNAL);
    }
    one->life.end(MXP_ARG("request", one->number), MXP_ARG("path", one->path),
                  MXP_ARG("bytes", one->reply.size()));
}

void server::serve()
{
    std::array<epoll_event, 64> events;
    while (ending == 0) {
        const int count = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
        for (int i = 0; i < count; i++) {
            void *const about = events[static_cast<std::size_t>(i)].data.ptr;
            eventfd_t wakes;
            if (about == &listener_) {
                accept_one();
            } else if (about == &wake_) {
                eventfd_read(wake_.get(), &wakes);
            } else {
                read_from(static_cast<request *>(about));
            }
        }
        while (owned_request one = answered_.take()) {
            reply(std::move(one));
        }
    }
}

// Works until SIGTERM or SIGINT, then finishes what is in the queue.
void server::run()
{
    std::vector<std::thread> workers;
    mxp_thread_name("io");
    for (unsigned i = 1; i <= workers_max; i++) {
        workers.emplace_back(&server::work, this, i);
    }
    wake_number = wake_.get();
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
    watch(listener_.get(), &listener_);
    watch(wake_.get(), &wake_);
    serve();
    asked_.close();
    for (std::thread &worker : workers) {
        worker.join();
    }
    while (owned_request one = answered_.take()) {
        reply(std::move(one));
    }
}

// A ring in a file, of which a process that dies leaves the newest records.
bool start_profiler(const char *path)
{
    mxp_session *const session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.store = MXP_STORE_FILE;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = 64 << 20;
    config.native_filename = path;
    config.snapshot_filename = path;
    config.snapshot_signal = 1;
    return mxp_session_configure(session, &config) == 0 && mxp_session_run(session) == 0;
}

int fail(const char *what, const char *why)
{
    std::fprintf(stderr, "server: %s: %s\n", what, why);
    return 1;
}

void leave_terminal()
{
    const descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int number = 0; number <= 2; number++) {
        dup2(null.get(), number);
    }
}

}  // namespace

int main(int count, char **arguments)
{
    const char *const usage = "usage: server [--daemon] PORT FILE.mxp (port 0: any)\n";
    if (count == 2 && std::string_view(arguments[1]) == "--help") {
        std::fputs(usage, stdout);
        return 0;
    }
    const bool is_daemon = count == 4 && std::string_view(arguments[1]) == "--daemon";
    if (count != 3 && !is_daemon) {
        std::fputs(usage, stderr);
        return 2;
    }
    server one;
    const unsigned port = one.listen_at(std::atoi(arguments[count - 2]));
    if (port == 0) {
        return fail("cannot listen there", std::strerror(errno));
    }
    // A child does not take its parent's recording along: the profiler starts in the daemon.
    if (is_daemon && daemon(1, 1) != 0) {
        return fail("cannot become a daemon", std::strerror(errno));
    }
    if (!start_profiler(arguments[count - 1])) {
        return fail("cannot start the profiler", mxp_last_error());
    }
    std::printf("http://127.0.0.1:%u process %ld\n", port, static_cast<long>(getpid()));
    std::fflush(stdout);
    if (is_daemon) {
        leave_terminal();
    }
    one.run();
    return 0;
}
